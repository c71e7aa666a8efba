# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures, how each is run, and the goal of each row.

A case is a benchmark of the figure's programs. A measurement is asked for as `m.time(side, case)` (nanoseconds) or
`m.counter(side, case, name)`; a check's value is an expression of them, so that it can be evaluated for the medians
of all rounds and for each round on its own.
"""

from dataclasses import dataclass, field
from typing import Callable, Optional


@dataclass
class Check:
    """A goal: `value` of the measurements, and the bound that it is held against. No bound: shown only."""

    goal: str
    value: Callable
    at_most: Optional[float] = None
    at_least: Optional[float] = None

    def met(self, value):
        if self.at_most is not None:
            return value <= self.at_most
        if self.at_least is not None:
            return value >= self.at_least
        return None


@dataclass
class Row:
    """One line of the table. `quantity` is "time", "bandwidth" or a counter's name; `per` divides a time."""

    case: str
    checks: list = field(default_factory=list)
    quantity: str = "time"
    per: int = 1
    variant: str = ""
    label: str = ""
    unit: str = "ns"


@dataclass
class Figure:
    name: str
    title: str
    rows: list
    variants: dict = field(default_factory=lambda: {"": {}})  # name -> environment added on all sides
    repetitions: int = 5
    min_time: float = 0.02  # seconds of one repetition


def ratio(case, at_most=None, variant="", quantity="time", other="kokkos", goal=None):
    """Gantry's time (or counter) over a peer's."""

    def value(m):
        return m.get("gantry", case, quantity, variant) / m.get(other, case, quantity, variant)

    names = {"kokkos": "Kokkos::OpenMP", "limit": "the limit"}
    text = goal or (f"<= {at_most:g} x {names[other]}" if at_most else f"x {names[other]}")
    return Check(text, value, at_most=at_most)


def speed(case, at_least, other="kokkos"):
    """A peer's time over Gantry's: how many times its bandwidth."""
    names = {"kokkos": "Kokkos::OpenMP", "limit": "the limit"}
    return Check(
        f">= {at_least:g} x {names[other]}",
        lambda m: m.time(other, case) / m.time("gantry", case),
        at_least=at_least,
    )


def beyond_the_view(case):
    """What a View costs beyond Kokkos's own part, which is the same in every memory space."""

    def own(m, side):
        return m.time(side, case) - m.time(side, "view_machinery")

    return Check("beyond Kokkos's own part, x Kokkos::OpenMP", lambda m: own(m, "gantry") / own(m, "kokkos"))


def added(case):
    """Gantry's program brings Kokkos::OpenMP up too, Kokkos's host space in this build: what comes on top of that."""
    return Check(
        "what Gantry adds <= 1 x Kokkos::OpenMP",
        lambda m: m.counter("gantry", case, "p50_ns") / m.counter("kokkos", case, "p50_ns") - 1,
        at_most=1,
    )


ONE_THREAD = {"OMP_NUM_THREADS": "1", "GANTRY_NUM_THREADS": "1"}


def attended(side, case):
    return Check(f"all threads took part ({side})", lambda m: m.counter(side, case, "attended"), at_least=0.99)


FIGURES = [
    Figure(
        "launch_latency",
        "Empty launch + fence",
        [
            Row(
                "launch_fence_shared",
                [
                    Check(
                        "<= 1.1 RTT + 70 ns (1 = that)",
                        lambda m: m.counter("gantry", "launch_fence_shared", "latency_ns")
                        / (1.1 * m.counter("gantry", "launch_fence_shared", "rtt_ns") + 70),
                        at_most=1,
                    ),
                    ratio("launch_fence_shared", 0.25, quantity="latency_ns"),
                    attended("gantry", "launch_fence_shared"),
                    attended("kokkos", "launch_fence_shared"),
                ],
                quantity="latency_ns",
                label="all threads take part",
            ),
            Row("launch_fence", [ratio("launch_fence", 0.25)], label="as the runtime likes"),
            Row(
                "launch_fence",
                [
                    Check(
                        "<= Kokkos's front end + 25 ns (1 = that)",
                        lambda m: m.time("gantry", "launch_fence", "1 thread")
                        / (m.time("kokkos", "front_end", "1 thread") + 25),
                        at_most=1,
                    ),
                    ratio("launch_fence", variant="1 thread"),
                ],
                variant="1 thread",
                label="1 thread",
            ),
            Row("front_end", variant="1 thread", label="Kokkos's front end alone"),
            Row("fence_idle", label="fence of an idle instance"),
        ],
        variants={"": {}, "1 thread": ONE_THREAD},
    ),
    Figure(
        "tiny_launches",
        "1000 launches, then a fence: one launch",
        [
            Row(
                f"tiny_launches/n:{n}",
                [
                    Check(
                        "<= Kokkos's front end + 20 ns (1 = that)",
                        lambda m, n=n: m.time("gantry", f"tiny_launches/n:{n}")
                        / (m.time("kokkos", "front_end") + 20 * 1000),
                        at_most=1,
                    ),
                    ratio(f"tiny_launches/n:{n}"),
                ],
                per=1000,
                label=f"n = {n}",
            )
            for n in (1, 10, 100)
        ]
        + [Row("front_end", per=1000, label="Kokkos's front end alone")],
    ),
    Figure(
        "idle_launch",
        "Launch after the device was idle, or beside a busy process",
        [
            Row(
                "after_idle",
                [
                    Check("<= 40 us (ns)", lambda m: m.counter("gantry", "after_idle", "p50_ns"), at_most=40000),
                    Check("share run by all threads", lambda m: m.counter("gantry", "after_idle", "attended")),
                ],
                quantity="p50_ns",
                label="after 2 ms, median",
            ),
            Row("after_idle", quantity="p99_ns", label="after 2 ms, 99th percentile"),
            Row("with_hog", [ratio("with_hog", quantity="p50_ns")], quantity="p50_ns", label="with a hog, median"),
            Row(
                "with_hog",
                [ratio("with_hog", 0.1, quantity="p99_ns")],
                quantity="p99_ns",
                label="with a hog, 99th percentile",
            ),
            Row(
                "idle_with_hog",
                [ratio("idle_with_hog", 0.1, quantity="p99_ns")],
                quantity="p99_ns",
                label="with a hog after 2 ms, 99th percentile",
            ),
            Row(
                "cpu_while_idle",
                [Check("0 CPUs in use (<= 0.005)", lambda m: m.counter("gantry", "cpu_while_idle", "cpus"), at_most=0.005)],
                quantity="cpus",
                label="CPUs in use while idle",
                unit="",
            ),
        ],
        repetitions=1,
    ),
    Figure(
        "range_in_cache",
        "Range kernel in cache, KOKKOS_LAMBDA(int i)",
        [
            Row(
                "range_in_cache/n:10000",
                [ratio("range_in_cache/n:10000", 0.4), ratio("range_in_cache/n:10000", other="limit")],
                label="y = a x + y, n = 10^4",
            )
        ],
    ),
    Figure(
        "stream",
        "Memory bandwidth, arrays of 64 MB",
        [
            Row("triad", [speed("triad", 1.05)], quantity="bandwidth", unit="GB/s"),
            Row("dot", [speed("dot", 1.3)], quantity="bandwidth", unit="GB/s"),
            Row("copy", [speed("copy", 1.2), speed("copy", 0.9, "limit")], "bandwidth", label="deep_copy", unit="GB/s"),
            Row("fill", [speed("fill", 1.2), speed("fill", 0.9, "limit")], "bandwidth", unit="GB/s"),
            Row("fill_zero", [speed("fill_zero", 1.2)], "bandwidth", label="fill with 0", unit="GB/s"),
        ],
        repetitions=3,
        min_time=0.1,
    ),
    Figure(
        "reduce",
        "Sum of an array into a host scalar",
        [
            Row(f"reduce/n:{n}", [ratio(f"reduce/n:{n}", 0.4), ratio(f"reduce/n:{n}", other="limit")], label=f"n = {n}")
            for n in (10000, 100000)
        ],
    ),
    Figure(
        "scan",
        "Running sum of an array",
        [
            Row(
                f"scan/n:{n}",
                [
                    ratio(f"scan/n:{n}", 0.45),
                    ratio(f"scan/n:{n}", 1.0, other="limit", goal="<= 1 x one thread of plain C"),
                ],
                label=f"n = {n}",
            )
            for n in (1000, 10000, 100000, 1000000, 8000000)
        ],
        repetitions=3,
    ),
    Figure(
        "mdrange",
        "7-point stencil, MDRangePolicy<Rank<3>>",
        [
            Row("stencil/edge:64", [ratio("stencil/edge:64", 0.45)], label="64^3"),
            Row("stencil/edge:256", [ratio("stencil/edge:256", 0.65)], label="256^3"),
        ],
        repetitions=3,
    ),
    Figure(
        "alloc",
        "Device memory",
        [
            Row(
                f"pool/bytes:{n}",
                [Check("<= 10 ns a call (ns)", lambda m, n=n: m.time("gantry", f"pool/bytes:{n}") / 2, at_most=10)],
                label=f"MemoryPool alone, allocate + free, {text}",
            )
            for n, text in ((64, "64 B"), (4096, "4 KB"), (1 << 20, "1 MB"), (64 << 20, "64 MB"))
        ]
        + [Row("locked_bin", label="a free list of one size behind a spin lock")]
        + [
            Row(f"malloc_free/bytes:{n}", [ratio(f"malloc_free/bytes:{n}")], label=f"kokkos_malloc + kokkos_free, {text}")
            for n, text in ((64, "64 B"), (4096, "4 KB"), (1 << 20, "1 MB"), (64 << 20, "64 MB"))
        ]
        + [
            Row(
                f"view/n:{n}",
                [ratio(f"view/n:{n}", 0.5), beyond_the_view(f"view/n:{n}")],
                label=f"View of {n}, WithoutInitializing",
            )
            for n in (8, 1000, 100000)
        ]
        + [Row("view_machinery", label="a View in memory that costs nothing: Kokkos's own part")]
        + [
            Row(f"view_zeroed/n:{n}", [ratio(f"view_zeroed/n:{n}", 0.5)], label=f"View of {n}")
            for n in (8, 1000, 100000)
        ]
        + [
            Row(
                f"first_touch/bytes:{n}",
                [
                    ratio(f"first_touch/bytes:{n}", 0.2, other="limit", quantity="p50_ns", goal="<= 0.2 x glibc, one thread"),
                    ratio(f"first_touch/bytes:{n}", quantity="p50_ns"),
                ],
                quantity="p50_ns",
                label=f"first touch of 64 MB in blocks of {text}",
            )
            for n, text in ((4 << 20, "4 MB"), (64 << 20, "64 MB"))
        ],
        repetitions=3,
    ),
    Figure(
        "init_finalize",
        "Runtime up and down, in fresh processes",
        [
            Row("init", [ratio("init", 1.0, quantity="p50_ns"), added("init")], quantity="p50_ns", label="initialize + finalize"),
            Row("use", [ratio("use", 1.0, quantity="p50_ns"), added("use")], quantity="p50_ns", label="... with one launch"),
            Row(
                "use",
                [
                    Check(
                        "<= 1024 KB more than Kokkos alone",
                        lambda m: m.counter("gantry", "use", "rss_kb") - m.counter("kokkos", "use", "rss_kb"),
                        at_most=1024,
                    )
                ],
                quantity="rss_kb",
                label="resident memory added",
                unit="KB",
            ),
            Row(
                "cycles",
                [Check("<= 200 us (ns)", lambda m: m.time("gantry", "cycles"), at_most=200000)],
                label="close + open one device",
            ),
            Row(
                "cycles",
                [Check("<= 256 KB after 1000 cycles", lambda m: m.counter("gantry", "cycles", "rss_kb"), at_most=256)],
                quantity="rss_kb",
                label="... memory left behind",
                unit="KB",
            ),
            Row(
                "cycles",
                [Check("none", lambda m: m.counter("gantry", "cycles", "threads"), at_most=0)],
                quantity="threads",
                label="... threads left behind",
                unit="",
            ),
            Row(
                "cycles",
                [Check("none", lambda m: m.counter("gantry", "cycles", "files"), at_most=0)],
                quantity="files",
                label="... files left open",
                unit="",
            ),
        ],
        repetitions=1,
    ),
    Figure(
        "after_host_view",
        "Kernel right after a host View was filled by OpenMP, n = 10^4",
        [
            Row(
                "after_host_view",
                [ratio("after_host_view", variant=policy, quantity="p50_ns")],
                quantity="p50_ns",
                variant=policy,
                label=f"OMP_WAIT_POLICY {policy}",
            )
            for policy in ("active", "unset", "passive")
        ],
        variants={
            "active": {"OMP_WAIT_POLICY": "active"},
            "unset": {"OMP_WAIT_POLICY": None},
            "passive": {"OMP_WAIT_POLICY": "passive"},
        },
        repetitions=1,
    ),
    Figure(
        "rpc",
        "Calls of the host from a kernel",
        [
            Row(
                "call/ports:1",
                [
                    Check(
                        "<= 1.3 RTT (1 = that)",
                        lambda m: m.time("gantry", "call/ports:1") / (1.3 * m.rtt()),
                        at_most=1,
                    ),
                    ratio("call/ports:1", other="limit", goal="x a mailbox of one line"),
                    Check(
                        "<= 0.4 x LLVM's layout of 64 ports",
                        lambda m: m.time("gantry", "call/ports:1") / m.time("limit", "call_llvm_layout"),
                        at_most=0.4,
                    ),
                ],
                label="there and back",
            ),
            Row(
                "call/ports:4096",
                [
                    Check(
                        "<= 1.3 x with one port",
                        lambda m: m.time("gantry", "call/ports:4096") / m.time("gantry", "call/ports:1"),
                        at_most=1.3,
                    )
                ],
                label="... one of 4096 ports",
            ),
            Row("user_call", label="... a handler of the program"),
            Row(
                "one_way",
                [
                    Check("<= 8 ns (ns)", lambda m: m.time("gantry", "one_way"), at_most=8),
                    ratio("one_way", other="limit", goal="x a ring of lines"),
                ],
                label="one way, what the caller pays",
            ),
            Row(
                "pipelined",
                [
                    Check(
                        ">= 0.7 x the calls a second of a ring of lines",
                        lambda m: m.time("limit", "pipelined") / m.time("gantry", "pipelined"),
                        at_least=0.7,
                    )
                ],
                label="as many ahead as fit",
            ),
            Row(
                "call_after_idle",
                [
                    Check("<= 35 us (ns)", lambda m: m.counter("gantry", "call_after_idle", "p50_ns"), at_most=35000),
                    ratio("call_after_idle", quantity="p50_ns", other="limit", goal="x a bare futex"),
                ],
                quantity="p50_ns",
                label="after 2 ms without calls, median",
            ),
            Row(
                "call_beside_a_slow_handler",
                quantity="p50_ns",
                label="while another device's handler takes 50 ms, median",
            ),
            Row(
                "silent_kernel/lease:0",
                [
                    Check(
                        "0 CPUs in use (<= 0.005)",
                        lambda m: m.counter("gantry", "silent_kernel/lease:0", "cpus"),
                        at_most=0.005,
                    )
                ],
                quantity="cpus",
                label="CPUs in use while a kernel does not call",
                unit="",
            ),
            Row(
                "silent_kernel/lease:1",
                [
                    Check(
                        "<= 0.05 CPUs in use",
                        lambda m: m.counter("gantry", "silent_kernel/lease:1", "cpus"),
                        at_most=0.05,
                    )
                ],
                quantity="cpus",
                label="... that could not wake the server",
                unit="",
            ),
        ],
    ),
    Figure(
        "printf",
        "A line printed by a kernel: three arguments, to /dev/null",
        [
            Row(
                "line_of_the_caller",
                [Check("<= 15 ns (ns)", lambda m: m.time("gantry", "line_of_the_caller"), at_most=15)],
                label="what the caller pays",
            ),
            Row(
                "lines",
                [ratio("lines", 0.5, other="limit", goal="<= 0.5 x fprintf of two threads")],
                label="two threads, until it is written",
            ),
        ],
    ),
]

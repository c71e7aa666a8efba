# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the sides of a figure in turns, each in a process of its own, and keeps what they measured."""

import json
import os
import resource
import statistics
import subprocess
from pathlib import Path

SIDES = ("gantry", "kokkos", "limit")
TIMEOUT_S = 300
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def side_environment(side, threads):
    """What each side's documentation advises. Nothing else of the caller's OpenMP, Kokkos or Gantry settings is kept."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KOKKOS_", "GANTRY_"))}
    environment["OMP_NUM_THREADS"] = str(threads)
    if side == "kokkos":
        environment.update(OMP_PROC_BIND="true", OMP_PLACES="cores", OMP_WAIT_POLICY="active")
    if side == "gantry":
        environment.update(OMP_PROC_BIND="false", OMP_WAIT_POLICY="passive", GANTRY_NUM_THREADS=str(threads))
    return environment


class Measurements:
    """Of one round, or the medians of several: (side, case, quantity, variant) -> value."""

    def __init__(self):
        self.values = {}
        self.rtts = []

    def get(self, side, case, quantity="time", variant=""):
        return self.values[side, case, quantity, variant]

    def time(self, side, case, variant=""):
        return self.get(side, case, "time", variant)

    def counter(self, side, case, name, variant=""):
        return self.get(side, case, name, variant)

    def rtt(self):
        """Nanoseconds that a cache line needs to the other core and back, as the processes of the round found it."""
        return statistics.median(self.rtts)

    def add(self, side, variant, output):
        for benchmark in output["benchmarks"]:
            if benchmark.get("aggregate_name", "median") != "median" or benchmark.get("error_occurred"):
                continue
            case = benchmark["run_name"]
            for suffix in ("/real_time", "/manual_time"):
                case = case.removesuffix(suffix)
            case = "/".join(part for part in case.split("/") if not part.startswith(("iterations:", "repeats:")))
            known = set(benchmark)
            self.values[side, case, "time", variant] = benchmark["real_time"] * NS[benchmark["time_unit"]]
            if "bytes_per_second" in known:
                self.values[side, case, "bandwidth", variant] = benchmark["bytes_per_second"] / 1e9
            for name in known:
                if isinstance(benchmark[name], (int, float)):
                    self.values.setdefault((side, case, name, variant), benchmark[name])
        rtt = float(output["context"].get("rtt_ns", 0))
        if rtt > 0:
            self.rtts.append(rtt)


def medians(rounds):
    result = Measurements()
    for key in {key for one in rounds for key in one.values}:
        result.values[key] = statistics.median(one.values[key] for one in rounds if key in one.values)
    result.rtts = [rtt for one in rounds for rtt in one.rtts]
    return result


def cpu_ticks():
    """(all, used by any process or stolen by the hypervisor), in clock ticks of all CPUs."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields), sum(fields) - fields[3] - fields[4]


class Harness:
    def __init__(self, programs, rounds, threads, quick, sides=SIDES, log=print):
        self.programs = Path(programs)
        self.rounds = rounds
        self.threads = threads
        self.quick = quick
        self.sides = sides
        self.log = log
        self.failures = []
        self.contexts = {}

    def run_program(self, figure, side, variant):
        environment = side_environment(side, self.threads)
        for name, value in figure.variants[variant].items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        command = [
            str(self.programs / side / figure.name),
            "--benchmark_format=json",
            f"--benchmark_min_time={0.005 if self.quick else figure.min_time}",
            f"--benchmark_repetitions={1 if self.quick else figure.repetitions}",
            "--benchmark_report_aggregates_only=true",
        ]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"no end within {TIMEOUT_S} s") from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise RuntimeError(f"exit status {done.returncode}: {lines[-1] if lines else ''}")
        output = json.loads(done.stdout)
        for benchmark in output["benchmarks"]:
            if benchmark.get("error_occurred"):
                self.failures.append(f"{side}/{figure.name} {benchmark['name']}: {benchmark['error_message']}")
        return output

    def run(self, figure):
        """All rounds of one figure, and the share of the machine that others used meanwhile."""
        rounds = []
        ticks_before = cpu_ticks()
        own_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        missing = set()
        for number in range(self.rounds):
            self.log(f"{figure.name}: round {number + 1} of {self.rounds}")
            measurements = Measurements()
            for variant in figure.variants:
                # A B C, then C B A: no side is always the one that runs on a machine just left by another.
                for side in self.sides if number % 2 == 0 else reversed(self.sides):
                    if (side, variant) in missing or not (self.programs / side / figure.name).exists():
                        continue
                    if side == "limit" and variant:  # variants are settings of the runtimes
                        continue
                    try:
                        output = self.run_program(figure, side, variant)
                    except (RuntimeError, ValueError) as error:
                        where = f"{side}/{figure.name}" + (f" ({variant})" if variant else "")
                        self.failures.append(f"{where}: {error}")
                        self.log(f"  {where}: {error}")
                        missing.add((side, variant))
                        continue
                    self.contexts.setdefault(side, output["context"])
                    measurements.add(side, variant, output)
            rounds.append(measurements)
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        own_ticks = os.sysconf("SC_CLK_TCK") * (
            own.ru_utime + own.ru_stime - own_before.ru_utime - own_before.ru_stime
        )
        ticks = cpu_ticks()
        total = max(1, ticks[0] - ticks_before[0])
        others = max(0.0, (ticks[1] - ticks_before[1] - own_ticks) / total)
        return rounds, others

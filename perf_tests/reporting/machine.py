# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the figures were measured on."""

import os
import platform
import subprocess
from pathlib import Path


def read(path, default=""):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return default


def describe(contexts):
    """Ordered name -> text. `contexts` holds what each side's first program said of itself."""
    lscpu = {}
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        for line in text.splitlines():
            name, _, value = line.partition(":")
            lscpu[name.strip()] = value.strip()
    except OSError:
        pass
    os_release = dict(line.split("=", 1) for line in read("/etc/os-release").splitlines() if "=" in line)
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not visible")
    hypervisor = lscpu.get("Hypervisor vendor")
    kokkos = contexts.get("kokkos") or contexts.get("gantry") or {}
    caches = ", ".join(
        f"{level} {lscpu[f'{level} cache']}" for level in ("L1d", "L2", "L3") if f"{level} cache" in lscpu
    )
    return {
        "CPU": f"{lscpu.get('Model name', platform.processor())}, family {lscpu.get('CPU family', '?')} "
        f"model {lscpu.get('Model', '?')}",
        "CPUs": f"{len(os.sched_getaffinity(0))} usable of {os.cpu_count()}, "
        f"{lscpu.get('Thread(s) per core', '?')} thread(s) a core, {lscpu.get('NUMA node(s)', '?')} NUMA node(s)",
        "Caches": caches,
        "Machine": f"virtual ({hypervisor})" if hypervisor else "not virtual",
        "Frequency governor": governor,
        "Memory": read("/proc/meminfo").split("\n")[0].partition(":")[2].strip(),
        "Huge pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "System": f"{os_release.get('PRETTY_NAME', '?').strip(chr(34))}, Linux {platform.release()}",
        "Compiler": f"{kokkos.get('compiler', '?')} {kokkos.get('flags', '')}",
        "Kokkos": kokkos.get("kokkos", "?"),
        "Threads": f"Gantry {contexts.get('gantry', {}).get('threads', '-')}, "
        f"Kokkos::OpenMP {contexts.get('kokkos', {}).get('threads', '-')}",
        "Load before": read("/proc/loadavg"),
    }

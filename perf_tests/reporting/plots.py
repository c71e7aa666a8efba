# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of a report, where matplotlib is installed."""

from pathlib import Path

COLORS = {"gantry": "#1b6ca8", "kokkos": "#e08e0b", "limit": "#9a9a9a"}
NAMES = {"gantry": "Gantry", "kokkos": "Kokkos::OpenMP", "limit": "limit"}


def draw(report, folder):
    """Writes one PNG a figure and goals.png; returns their paths, or None without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return None
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [path for figure in report["figures"] for path in draw_figure(pyplot, figure, folder)]
    return paths + draw_goals(pyplot, report, folder)


def draw_figure(pyplot, figure, folder):
    units = {row["unit"] for row in figure["rows"] if row["sides"] and row["unit"] in ("ns", "GB/s")}
    if not units:
        return []
    unit = "GB/s" if "GB/s" in units else "ns"
    rows = [row for row in figure["rows"] if row["unit"] == unit and row["sides"]]
    drawing, axes = pyplot.subplots(figsize=(9, 1.2 + 0.62 * len(rows)))
    height = 0.26
    for offset, side in enumerate(NAMES):
        found = [(index, row["sides"][side]) for index, row in enumerate(rows) if side in row["sides"]]
        values = [one["value"] for _, one in found]
        errors = [[max(0, one["value"] - one["q1"]) for _, one in found],
                  [max(0, one["q3"] - one["value"]) for _, one in found]]
        axes.barh([index + (offset - 1) * height for index, _ in found], values, height * 0.92, xerr=errors,
                  color=COLORS[side], label=NAMES[side], error_kw={"elinewidth": 1, "ecolor": "#333333"})
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.invert_yaxis()
    if unit == "ns":
        axes.set_xscale("log")
    axes.set_xlabel("nanoseconds (less is better)" if unit == "ns" else "GB/s (more is better)")
    axes.set_title(figure["title"])
    axes.legend(fontsize="small")
    axes.grid(axis="x", alpha=0.3)
    return [save(pyplot, drawing, folder / f"{figure['name']}.png")]


def draw_goals(pyplot, report, folder):
    """Every goal with a positive bound: how far measured / goal lies from 1, better to the left."""
    points = []
    for figure in report["figures"]:
        for row in figure["rows"]:
            for check in row["checks"]:
                if check["met"] is None or not check["bound"] or check["value"] <= 0 or "took part" in check["goal"]:
                    continue
                scale = (lambda x, b=check["bound"]: b / x) if check["at_least"] else (lambda x, b=check["bound"]: x / b)
                low, high = sorted((scale(check["q1"] or check["value"]), scale(check["q3"] or check["value"])))
                points.append((f"{figure['name']}: {row['label']}  {check['goal']}", scale(check["value"]), low, high,
                               check["met"]))
    if not points:
        return []
    drawing, axes = pyplot.subplots(figsize=(11, 1.2 + 0.27 * len(points)))
    for index, (_, value, low, high, met) in enumerate(points):
        color = "#2e8b57" if met else "#c0392b"
        axes.plot([low, high], [index, index], color=color, linewidth=2, alpha=0.5)
        axes.plot([value], [index], "o", color=color)
    axes.axvline(1, color="#333333", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(points)), [point[0] for point in points], fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("measured / goal (left of 1: met); bars are quartiles over rounds")
    axes.grid(axis="x", alpha=0.3)
    return [save(pyplot, drawing, folder / "goals.png")]


def save(pyplot, drawing, path):
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)
    return path

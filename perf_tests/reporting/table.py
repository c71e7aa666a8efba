# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From measurements to rows of text."""

import statistics

from reporting.rounds import SIDES, medians


def quartiles(values):
    if len(values) < 2:
        return (values[0], values[0]) if values else (None, None)
    q1, _, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return q1, q3


def evaluate(value, rounds):
    """The value for the medians of all rounds, and the quartiles of its values round by round. None: not measured."""
    try:
        central = value(medians(rounds))
    except (KeyError, ZeroDivisionError, statistics.StatisticsError):
        return None
    single = []
    for one in rounds:
        try:
            single.append(value(one))
        except (KeyError, ZeroDivisionError, statistics.StatisticsError):
            pass
    q1, q3 = quartiles(single)
    return {"value": central, "q1": q1, "q3": q3}


def results(figure, rounds, others):
    rows = []
    for row in figure.rows:
        sides = {}
        for side in SIDES:
            found = evaluate(lambda m, s=side: m.get(s, row.case, row.quantity, row.variant) / row.per, rounds)
            if found:
                sides[side] = found
        checks = []
        for check in row.checks:
            found = evaluate(check.value, rounds)
            checks.append({"goal": check.goal, **(found or {}), "met": check.met(found["value"]) if found else None,
                           "bound": check.at_most if check.at_most is not None else check.at_least,
                           "at_least": check.at_least is not None})
        rows.append({"label": row.label or row.case, "case": row.case, "variant": row.variant,
                     "quantity": row.quantity, "unit": row.unit, "sides": sides, "checks": checks})
    rtt = evaluate(lambda m: m.rtt(), rounds)
    return {"name": figure.name, "title": figure.title, "rtt_ns": rtt, "others_cpu": others, "rows": rows,
            "rounds": [[list(key) + [value] for key, value in sorted(one.values.items())] for one in rounds]}


def quantity_text(value, unit):
    if unit == "ns":
        for name, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
            if value >= size:
                return f"{value / size:.3g} {name}"
        return f"{value:.3g} ns"
    return f"{value:.3g} {unit}".strip()


def ratio_text(check):
    if "value" not in check:
        return "-"
    if check["value"] >= 1000 or check["value"] == int(check["value"]):
        return f"{check['value']:.0f} ({check['q1']:.0f} to {check['q3']:.0f})"
    return f"{check['value']:.3g} ({check['q1']:.3g} to {check['q3']:.3g})"


def met_text(check):
    return {True: "yes", False: "**no**", None: ""}[check["met"]]


def markdown(report):
    """The table of all figures. Each check has a line; the first line of a row shows what the sides took."""
    lines = ["| figure | Gantry | Kokkos::OpenMP | limit | goal | measured (quartiles) | met |",
             "|---|---|---|---|---|---|---|"]
    for figure in report["figures"]:
        lines.append(f"| **{figure['title']}** ({figure['name']}) | | | | | | |")
        for row in figure["rows"]:
            cells = [quantity_text(row["sides"][side]["value"], row["unit"]) if side in row["sides"] else "-"
                     for side in SIDES]
            first = f"| {row['label']} | {cells[0]} | {cells[1]} | {cells[2]} |"
            for check in row["checks"] or [None]:
                tail = f" {check['goal']} | {ratio_text(check)} | {met_text(check)} |" if check else " | | |"
                lines.append(first + tail)
                first = "| | | | |"
    lines.append("")
    lines += machine_lines(report)
    return "\n".join(lines) + "\n"


def machine_lines(report):
    lines = [f"Measured on {report['date']} in {report['rounds']} rounds, commit {report['commit']}.", ""]
    lines += [f"- {name}: {text}" for name, text in report["machine"].items()]
    rtts = [figure["rtt_ns"]["value"] for figure in report["figures"] if figure["rtt_ns"]]
    if rtts:
        lines.append(f"- RTT (a cache line to the other core and back): {min(rtts):.0f} to {max(rtts):.0f} ns, "
                     "by figure: " + ", ".join(f"{figure['name']} {figure['rtt_ns']['value']:.0f}"
                                               for figure in report["figures"] if figure["rtt_ns"]))
    lines.append("- CPU used by others meanwhile: " +
                 ", ".join(f"{figure['name']} {figure['others_cpu']:.0%}" for figure in report["figures"]))
    if report["failures"]:
        lines += ["", "Failed:", ""] + [f"- {failure}" for failure in report["failures"]]
    return lines

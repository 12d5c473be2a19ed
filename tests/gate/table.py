# SPDX-License-Identifier: MIT
"""table.py: what was run, as Markdown."""

HEAD = "| what | target | done | violations | controls caught |\n|---|---:|---:|---:|---|\n"
NONE = {"done": 0, "violations": 0, "slices": 0, "seconds": 0, "controls": {}}


def amount(number, unit):
    if unit == "s":
        return f"{number // 60:,} min" if number >= 60 or not number else f"{number} s"
    return f"{number:,}"


def caught(figures, part):
    """How many of the part's controls were caught; "-": none was run yet."""
    if not figures["controls"]:
        return "-"
    return f"{sum(figures['controls'].values())} of {len(part['controls'])}"


def row(part, figures):
    return (f"| {part['what']} | {amount(part['target'], part['unit'])} | {amount(figures['done'], part['unit'])} | {figures['violations']:,} "
            f"| {caught(figures, part)} |\n")


def of(tree, parts):
    """The table of one product."""
    hours = sum(figures["seconds"] for figures in tree["parts"].values()) / 3600
    rows = "".join(row(part, tree["parts"].get(part["name"], NONE)) for part in parts)
    return f"Commit `{tree['commit']}` of {tree['date']}, {hours:.1f} hours:\n\n{HEAD}{rows}"


def is_wrong(trees):
    """A promise was broken, or a control was not caught, in the product that was run last: what was wrong before is history."""
    newest = max(trees.values(), key=lambda tree: tree["last"], default={"parts": {}})
    return any(part["violations"] or not all(part["controls"].values()) for part in newest["parts"].values())


def progress(tree, parts):
    """From 0 to 1."""
    return sum(min(1, tree["parts"].get(part["name"], NONE)["done"] / part["target"]) for part in parts) / len(parts)

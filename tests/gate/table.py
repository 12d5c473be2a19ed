# SPDX-License-Identifier: MIT
"""table.py: writes the results as Markdown."""

HEAD = "| what | target | done | violations | controls caught |\n|---|---:|---:|---:|---|\n"
NONE = {"done": 0, "violations": 0, "slices": 0, "seconds": 0, "controls": {}}


def amount(number, unit):
    if unit == "s":
        return f"{number // 60:,} min" if number >= 60 or not number else f"{number} s"
    return f"{number:,}"


def caught(figures, part):
    """Returns how many of the part's controls were caught; "-": none was run yet."""
    if not figures["controls"]:
        return "-"
    return f"{sum(figures['controls'].values())} of {len(part['controls'])}"


def row(part, figures):
    return (f"| {part['what']} | {amount(part['target'], part['unit'])} | {amount(figures['done'], part['unit'])} | {figures['violations']:,} "
            f"| {caught(figures, part)} |\n")


def fuzzing_in_one(tree, parts):
    """Returns the figures and parts, with all fuzz targets as one part."""
    fuzzing = [part for part in parts if part["result"] == "fuzz"]
    if len(fuzzing) < 2:
        return tree["parts"], parts
    figures = [tree["parts"].get(part["name"], NONE) for part in fuzzing]
    one = {name: sum(each[name] for each in figures) for name in ("done", "violations", "seconds")}
    one["controls"] = {f"{part['name']} {name}": caught for part, each in zip(fuzzing, figures) for name, caught in each["controls"].items()}
    part = {"name": "fuzz", "what": f"fuzzing, {len(fuzzing)} targets", "unit": "s", "target": sum(part["target"] for part in fuzzing),
            "controls": [control for part in fuzzing for control in part["controls"]]}
    return {**tree["parts"], "fuzz": one}, [part for part in parts if part["result"] != "fuzz"] + [part]


def left(tree, parts):
    """Returns a line about the parts that are below their targets, with the time that they need at the rate of this record; "": none is."""
    below = [(part, tree["parts"].get(part["name"], NONE)) for part in parts]
    below = [(part, figures) for part, figures in below if figures["done"] < part["target"]]
    if not below:
        return ""
    hours = sum((part["target"] - figures["done"]) * figures["seconds"] / figures["done"] for part, figures in below if figures["done"]) / 3600
    unknown = " and more" if any(not figures["done"] for _, figures in below) else ""
    return f"\n{len(below)} of {len(parts)} rows are below their targets, which need about {hours:.1f} more hours of one core{unknown}.\n"


def of(tree, parts):
    """Returns the table of one product."""
    hours = sum(tree["parts"].get(part["name"], NONE)["seconds"] for part in parts) / 3600
    rows = "".join(row(part, tree["parts"].get(part["name"], NONE)) for part in parts)
    return f"Commit `{tree['commit']}` of {tree['date']}, {hours:.1f} hours of one core:\n\n{HEAD}{rows}{left(tree, parts)}"


def violations(tree, parts):
    """Returns the number of violations, and their parts."""
    found = [(part["what"], tree["parts"][part["name"]]["violations"]) for part in parts if tree["parts"].get(part["name"], NONE)["violations"]]
    return f"{sum(number for _, number in found):,}" + (f" ({', '.join(what for what, _ in found)})" if found else "")


def sentence(tree, all_parts):
    """Returns the totals of one product, in two lines."""
    figures, parts = fuzzing_in_one(tree, all_parts)
    done = [f"{amount(figures[part['name']]['done'], part['unit'])} {'of ' if part['unit'] else ''}{part['what']}"
            for part in parts if figures.get(part["name"], NONE)["done"]]
    return f"The gates of commit `{tree['commit']}` have run {'; '.join(done)}.\nViolations: {violations(tree, all_parts)}.\n"


def page(trees, parts):
    """Returns the newest product's table, and a line about violations in the other products; figures.json has all figures."""
    newest, *others = trees or [None]
    if newest:
        figures, rows = fuzzing_in_one(newest, parts)
        newest = {**newest, "parts": figures}
    before = [f"Commit `{tree['commit']}` of {tree['date']}, violations: {violations(tree, parts)}.\n" for tree in others]
    return ([of(newest, rows)] if newest else []) + (["Before it:\n"] if before else []) + ["".join(before)] * bool(before)


def is_wrong(trees):
    """Returns whether the product that was run last has broken a promise or missed a control."""
    newest = max(trees.values(), key=lambda tree: tree["last"], default={"parts": {}})
    return any(part["violations"] or not all(part["controls"].values()) for part in newest["parts"].values())


def progress(tree, parts):
    """Returns the progress, from 0 to 1."""
    return sum(min(1, tree["parts"].get(part["name"], NONE)["done"] / part["target"]) for part in parts) / len(parts)

# SPDX-License-Identifier: MIT
"""documents.py: writes the tables in docs/reliability.md and the sentence in README.md, between two marks, from figures.json, which the same command
writes. A test checks all three, so that no figure is edited by hand."""
import hashlib
import json
import os

import table

BEGIN, END = "<!-- made by ./dev gate --write-docs: begin -->\n", "<!-- made by ./dev gate --write-docs: end -->\n"
FIGURES, PAGES = "tests/gate/figures.json", ("docs/reliability.md", "README.md")


def read(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as file:
        return file.read()


def seal(trees):
    """Returns a checksum, which shows that a figure was changed by hand."""
    return hashlib.sha256(json.dumps(trees, sort_keys=True).encode()).hexdigest()


def load(source):
    try:
        stored = json.loads(read(source, FIGURES))
    except FileNotFoundError:
        return {}, True
    return stored["trees"], stored["seal"] == seal(stored["trees"])


def merged(stored, known):
    """Merges figures, and keeps those of other machines. For each product and part the figures with more slices count; figures are never added,
    because two machines may have used the same seeds."""
    trees = {name: dict(tree) for name, tree in stored.items()}
    for name, tree in known.items():
        if not any(part["slices"] for part in tree["parts"].values()):
            continue
        before = trees.get(name, {"parts": {}})["parts"]
        parts = {**before, **{part: figures for part, figures in tree["parts"].items() if figures["slices"] >= before.get(part, {"slices": 0})["slices"]}}
        trees[name] = {**tree, "parts": parts}
    return trees


def block(page, trees, parts):
    newest = sorted(trees.values(), key=lambda tree: -tree["last"])
    if page == "README.md":  # the product with the longest runs
        made = [table.sentence(max(newest, key=lambda tree: table.progress(tree, parts)), parts)] if newest else []
    else:
        made = table.page(newest, parts)
    return BEGIN + "\n" + "\n".join(made) + "\n" + END


def with_block(text, made):
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + made + after


def write(source, parts, known):
    stored, _ = load(source)
    trees = merged(stored, known)
    for name, text in [(FIGURES, json.dumps({"seal": seal(trees), "trees": trees}, indent=1, sort_keys=True) + "\n"),
                       *[(page, with_block(read(source, page), block(page, trees, parts))) for page in PAGES]]:
        with open(os.path.join(source, name), "w", encoding="utf-8") as file:
            file.write(text)
        print(name)
    return 1 if table.is_wrong(trees) else 0


def check(source, parts):
    """Prints TAP."""
    trees, sealed = load(source)
    results = [("the figures are as the gate wrote them", sealed and trees)]
    for page in PAGES:
        text = read(source, page)
        results.append((f"{page} has the figures once, between its marks", text.count(BEGIN) == 1 and text.count(END) == 1))
        results.append((f"{page} has the figures that the gate wrote", block(page, trees, parts) in text))
    results.append(("no promise was broken, and every control that was run was caught, in the newest product", not table.is_wrong(trees)))
    for number, (title, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1

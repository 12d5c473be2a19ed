# SPDX-License-Identifier: MIT
"""tidings timeline: the page in a headless Chromium, where there is one. $TIDINGS_PICTURES names a folder for what it looks like.

$TIDINGS_TIMELINE_MANY is how many notifications the large page has: 20,000, or 100,000 in `./dev test timeline`."""
import os
import sys
import time

from browser import WHY_NOT, Browser
from kit import main, until
from timeline_pages import many, with_data
from timeline_test import HOSTILE, page_of, session

VISIBLE = HOSTILE.replace("\u202e", "{U+202E}").replace("\u0007", "{U+0007}").replace("\u2028", "{U+2028}")


MANY = int(os.environ.get("TIDINGS_TIMELINE_MANY", "20000"))
RUNNING = []  # one browser for all tests: starting it costs more than all of them


def browser():
    if not RUNNING:
        RUNNING.append(Browser())
    return RUNNING[0]


def written(place, text, name="page.html"):
    path = os.path.join(place.work, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def keep(view, name):
    folder = os.environ.get("TIDINGS_PICTURES")
    if folder:
        view.picture(os.path.join(folder, name + ".png"))


def selected(view):
    return view.text("#panel h2")


def test_page(place):
    """by keys and by mouse one gets to each notification, to its explanation and its carrier; nothing is said on the console"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    assert view.text("#panel h2") == "Nothing is selected", view.text("#panel")
    assert view.text("#summary").startswith("sessions"), view.text("#summary")
    view.run("document.getElementById('top').focus()")
    view.press("ArrowRight")
    id_ = selected(view).split()[1]
    assert view.text("#panel .message") == "CI run 4812 failed.", view.text("#panel")
    assert view.text("#panel .explanation") == place.ok("explain", "-s", "s", "--json", id_).json["text"]
    assert "CI run 4812 failed." in view.text("#panel pre"), view.text("#panel")
    view.press("ArrowDown")
    assert view.text("#panel .message") == "CI run 4813 passed.", view.text("#panel")
    assert view.text("#panel .state") == "pending", view.text("#panel")
    view.press("ArrowLeft", "c")
    assert selected(view).startswith("Delivery "), view.text("#panel")
    assert view.run("return document.querySelectorAll('#panel li').length") == 2, view.text("#panel")
    view.press("Escape")
    assert selected(view) == "Nothing is selected"
    where = view.run("const box = byId('lanes').getBoundingClientRect(); const lane = makeLanes(readModel(JSON.parse(byId('data').textContent)));"
                     "return [box.left, box.top + rowMiddle(lane[0], lane[0].rows[0])]")
    for x in range(140, 1000, 4):  # somewhere on that row it is
        view.click(where[0] + x, where[1])
        if selected(view).startswith("Notification "):
            break
    assert view.text("#panel .message") in ("CI run 4812 failed.", "CI run 4813 passed."), view.text("#panel")
    keep(view, "small")
    assert view.console() == [], view.console()


def test_filters(place):
    """the filters by outcome, level, producer and words leave out what they should"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    view.run("document.getElementById('find').focus()")
    view.press(*"4813")
    assert view.text("#matching") == "1 of 3 notifications", view.text("#matching")
    view.press("Escape", "ArrowRight")
    assert view.text("#panel .message") == "CI run 4813 passed.", view.text("#panel")
    view.run("const find = byId('find'); find.value = ''; find.dispatchEvent(new Event('input'))")
    for chips, left in (("#outcomes", 1), ("#levels", 2), ("#sources", 0)):
        view.run(f"document.querySelector('{chips} input').click()")
        assert view.text("#matching").startswith(f"{left} of 3"), (chips, view.text("#matching"))
        view.run(f"document.querySelector('{chips} input').click()")
        assert view.text("#matching") == "", (chips, view.text("#matching"))
    assert view.console() == [], view.console()


def test_hostile(place):
    """hostile texts are shown as text, and cannot do anything"""
    view = browser()
    session(place)
    place.ok("push", "-s", "s", "-k", "<b>a</b>.c", "--tool", "<i>t", "<u>x</u>")
    view.open(written(place, page_of(place)))
    view.run("document.getElementById('top').focus()")
    view.press("ArrowRight", "ArrowRight")
    assert view.text("#panel .message") == VISIBLE, view.text("#panel .message")
    assert view.run("return document.querySelectorAll('#panel img, #panel script, b, u, i').length") == 0
    assert view.run("return document.scripts.length") == 2
    # Were something to get in, the policy would stop it: the browser says so on the console.
    view.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken = 1\">')")
    view.run("const one = document.createElement('script'); one.textContent = 'window.broken = 1'; document.body.append(one)")
    refused = until(lambda: [line for line in view.console() if "Content Security Policy" in line], "the browser's refusals")
    assert refused and view.run("return window.broken === undefined"), refused


def test_themes(place):
    """light and dark: the page and its pictures follow the button"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    seen = []
    for _ in range(2):
        view.run("document.getElementById('theme').click()")
        view.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen.append(view.run("return getComputedStyle(document.body).backgroundColor + theme.colors.delivered"))
    assert seen[0] != seen[1] and "0072b2" in seen[0] and "4aa8e8" in seen[1], seen
    assert view.console() == [], view.console()


def test_many(place):
    """a large page opens, and the keys work in it"""
    view = browser()
    session(place)
    page = written(place, with_data(page_of(place), many(MANY)), "many.html")
    began = time.monotonic()
    drawn = view.open(page)
    print(f"# {MANY:,} notifications, {os.path.getsize(page) / 1e6:.0f} MB; drawn {drawn} ms after it began to load, {time.monotonic() - began:.1f} s by this test's clock")
    assert f"{MANY:,}" in view.text("#summary"), view.text("#summary")
    assert view.run("return document.querySelectorAll('*').length") < 500
    view.run("document.getElementById('top').focus()")
    view.press("ArrowRight", "+", "+", "0", "ArrowRight", "ArrowLeft")
    assert selected(view) == "Notification 4294967297", view.text("#panel")
    keep(view, "many")
    assert view.console() == [], view.console()


if __name__ == "__main__":
    if WHY_NOT:
        print(WHY_NOT)
        sys.exit(77)
    try:
        failed = main(globals())
    finally:
        for running in RUNNING:
            running.close()
    sys.exit(failed)

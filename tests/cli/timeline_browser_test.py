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
    return view.text("#panel h2 span") or view.text("#panel h2")


def drawn(view):
    """What a change asks for is drawn before the next frame."""
    view.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")



def test_page(place):
    """by keys and by mouse one gets to each notification, to its explanation and its carrier; nothing is said on the console"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    assert selected(view) == "Nothing is selected", view.text("#panel")
    assert view.text("#summary").startswith("sessions"), view.text("#summary")
    view.run("document.getElementById('top').focus()")
    view.press("ArrowRight")
    id_ = selected(view).split()[1]
    assert view.text("#panel .message") == "CI run 4812 failed.", view.text("#panel")
    assert view.text("#panel .explanation") == place.ok("explain", "-s", "s", "--json", id_).json["text"]
    assert "CI run 4812 failed." in view.text("#panel pre"), view.text("#panel")
    view.press("ArrowDown")
    assert view.text("#panel .message") == "CI run 4813 passed.", view.text("#panel")
    assert view.text("#panel .state").startswith("pending: "), view.text("#panel")
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
        drawn(view)
        seen.append(view.run("return getComputedStyle(document.body).backgroundColor + theme.colors.delivered"))
    assert seen[0] != seen[1] and "0072b2" in seen[0] and "4aa8e8" in seen[1], seen
    assert view.console() == [], view.console()


def test_axis(place):
    """axis and lanes have one width beside the lanes' scrollbar, at every size of the window, and no size scrolls sideways"""
    view = browser()
    session(place)
    page = written(place, with_data(page_of(place), many(2000)), "axis.html")
    try:
        for width, height in ((1280, 800), (900, 600), (640, 400), (390, 844)):
            view.resize(width, height)
            view.open(page + "#notification=4294967400")
            until(lambda: selected(view) == "Notification 4294967400", "the link is followed")
            # A new size is drawn with the next frame, and that may bring the scrollbar of the page.
            until(lambda: len(set(view.run("return ['top', 'lanes'].map((id) => byId(id).getBoundingClientRect().width).concat(byId('scroller').clientWidth)"))) == 1,
                  f"one width of axis and lanes at {width} x {height}")
            until(lambda width=width: view.run("return document.documentElement.scrollWidth") <= width, f"nothing that scrolls sideways at {width} x {height}")
            sheet = view.run("return byId('panel').getBoundingClientRect().top")
            assert sheet < height, ("the panel is out of sight", width, height, sheet)
            keep(view, f"selected-{width}")
    finally:
        view.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})
    assert view.console() == [], view.console()


def test_truth(place):
    """the page says what is forgotten, and whether it has the bytes that the agent was given"""
    view = browser()
    session(place)
    data = many(200)
    data["deliveries"][1]["rendering"]["same"] = False
    del data["deliveries"][2]["rendering"]
    view.open(written(place, with_data(page_of(place), data), "truth.html"))
    assert "90,000 more are forgotten" in view.text("#summary") and "90,000 notifications more are forgotten" in view.text("#panel"), view.text("#panel")
    found = []
    for at in range(3):
        view.run(f"location.hash = '#delivery={data['deliveries'][at]['id']}'")
        until(lambda at=at: selected(view) == f"Delivery {data['deliveries'][at]['id']}", "the link is followed")
        found.append(view.text("#panel .note"))
    assert found[0].startswith("Exactly the 87 bytes that the agent was given") and 'host name "Claude Code"' in found[0], found
    assert found[1].startswith("Not the same bytes") and found[2].startswith("Rendered with the configuration in force"), found
    assert view.console() == [], view.console()


def test_folds(place):
    """filters fold the lanes and the counts; keys find errors and what was not delivered; a time finds what the model had got"""
    view = browser()
    session(place)
    data = many(400)
    view.open(written(place, with_data(page_of(place), data), "folds.html"))
    tall = view.run("return byId('lanes').getBoundingClientRect().height")
    view.run("const find = byId('find'); find.value = 'target 17 '; find.dispatchEvent(new Event('input'))")
    drawn(view)
    assert view.text("#matching") == "1 of 400 notifications", view.text("#matching")
    assert view.run("return byId('lanes').getBoundingClientRect().height") < tall / 4
    assert sum(int(count) for count in view.run("return [...document.querySelectorAll('#outcomes .n')].map((one) => one.textContent)")) == 1
    view.run("const find = byId('find'); find.value = ''; find.dispatchEvent(new Event('input')); byId('top').focus()")
    strings, items = data["strings"], data["items"]
    levels, outcomes = ([strings[one] for one in items[name]] for name in ("level", "outcome"))
    view.press("e")
    assert selected(view) == f"Notification {4294967297 + next(i for i, one in enumerate(levels) if one in ('error', 'critical'))}", selected(view)
    view.press("Escape", "n")
    assert selected(view) == f"Notification {4294967297 + next(i for i, one in enumerate(outcomes) if one != 'delivered')}", selected(view)
    wanted = data["deliveries"][5]
    stamp = time.gmtime(wanted["time"] // 1000 + 60)
    view.press("Escape", "u")
    view.run("const find = byId('find'); find.value = arguments[0]; byId('filters').requestSubmit()", time.strftime("%Y-%m-%d %H:%M", stamp))
    limit = (wanted["time"] // 1000 + 60) // 60 * 60000
    newest = [one["id"] for one in data["deliveries"] if one["time"] <= limit][-1]
    assert selected(view) == f"Delivery {newest}", selected(view)
    view.run("location.hash = '#message=m3'")
    until(lambda: selected(view) == "Message m3", "the message is shown")
    assert "a trigger" in view.text("#panel") and view.text("#panel .message") == "Look at number 3, and say what broke it.", view.text("#panel")
    assert view.console() == [], view.console()


CONTRAST = """
const light = (color) => { const [r, g, b] = color.match(/[0-9a-f]{2}/g).map((pair) => parseInt(pair, 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const seen = [], { colors } = theme;
for (const ground of ['paper', 'panel', 'stripe', 'sunken'])
  for (const [names, least] of [[[...OUTCOMES, 'focus', 'area-line', 'ink-3', 'accent'], 3], [['ink', 'ink-2', 'ink-3'], 4.2]])
    for (const name of names) if (ratio(colors[name], colors[ground]) < least) seen.push(`${name} on ${ground}: ${ratio(colors[name], colors[ground]).toFixed(2)}`);
return seen;
"""


def test_contrast(place):
    """what is drawn has a contrast of at least 3 : 1 to what it is drawn on, light and dark"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    for _ in range(2):
        view.run("document.getElementById('theme').click()")
        drawn(view)
        assert view.run(CONTRAST) == []


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

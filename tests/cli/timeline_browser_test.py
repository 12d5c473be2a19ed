# SPDX-License-Identifier: MIT
"""Tests the page of `tidings timeline` in a headless Chromium, if this machine has one. $TIDINGS_PICTURES names a folder for screenshots.

$TIDINGS_TIMELINE_MANY is the number of notifications on the large page: 10,000, or 100,000 in `./dev test timeline`."""
import os
import re
import subprocess
import sys
import time

from browser import WHY_NOT, Browser
from kit import Skip, main, until
from timeline_pages import SPLIT, many, with_data
from timeline_test import HOSTILE, page_of, session

VISIBLE = HOSTILE.replace("\u202e", "{U+202E}").replace("\u0007", "{U+0007}").replace("\u2028", "{U+2028}")


MANY = int(os.environ.get("TIDINGS_TIMELINE_MANY", "10000"))
ROUNDS = 3 if MANY > 10000 else 1
RUNNING = []  # one browser for all tests, because its start takes longer than all of them


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
    """Waits for the second next frame, so that a change has been drawn."""
    view.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")



def test_page(place):
    """keys and mouse lead to each notification, its explanation and its delivery; the console has no message"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    assert selected(view) == "Nothing is selected", view.text("#panel")
    assert view.text("#summary").startswith("sessions"), view.text("#summary")
    view.run("document.getElementById('top').focus()")
    view.press("ArrowRight")
    id_ = selected(view).split()[1]
    assert view.text("#panel .message") == "CI run 4812 failed.", view.text("#panel")
    explained = place.ok("explain", "-s", "s", "--json", id_).json["text"]
    spoken = view.text("#panel .explanation")
    stamp = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{3}Z| UTC(?:[+\u2212][\d:]+)?)"
    assert re.sub(stamp, "TIME", spoken) == re.sub(stamp, "TIME", explained) != explained, (spoken, explained)
    assert "T" not in "".join(re.findall(stamp, spoken)).replace("UTC", ""), spoken
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
    for x in range(140, 1000, 4):  # the notification is at an unknown place of that row
        view.click(where[0] + x, where[1])
        if selected(view).startswith("Notification "):
            break
    assert view.text("#panel .message") in ("CI run 4812 failed.", "CI run 4813 passed."), view.text("#panel")
    keep(view, "small")
    assert view.console() == [], view.console()


def test_filters(place):
    """the filters by outcome, level, producer and words leave out the right notifications"""
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
    press = "document.querySelector('#outcomes .chip:nth-of-type({}) span').dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true, shiftKey: {}}}))"
    for chip, shift, left in ((2, "false", "1 of 3 notifications"), (1, "false", "2 of 3 notifications"), (1, "false", ""), (1, "true", "1 of 3 notifications"), (1, "true", "")):
        view.run(press.format(chip, shift))
        assert view.text("#matching") == left, (chip, shift, view.text("#matching"))
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
    # The policy of the page would stop injected code, and the browser reports that on the console.
    view.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken = 1\">')")
    view.run("const one = document.createElement('script'); one.textContent = 'window.broken = 1'; document.body.append(one)")
    refused = until(lambda: [line for line in view.console() if "Content Security Policy" in line], "the browser's refusals")
    assert refused and view.run("return window.broken === undefined"), refused


def test_themes(place):
    """light and dark: the page and its pictures change with the button"""
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
    """axis and lanes have one width beside the lanes' scrollbar, at every size of the window, and the page never scrolls sideways"""
    view = browser()
    session(place)
    page = written(place, with_data(page_of(place), many(2000)), "axis.html")
    try:
        for width, height in ((1280, 800), (900, 600), (640, 400), (390, 844)):
            view.resize(width, height)
            view.open(page + "#notification=4294967400")
            until(lambda: selected(view) == "Notification 4294967400", "the link is followed")
            # A new size is drawn with the next frame, which may show the page's scrollbar.
            until(lambda: len(set(view.run("return ['top', 'lanes'].map((id) => byId(id).getBoundingClientRect().width).concat(byId('scroller').clientWidth)"))) == 1,
                  f"one width of axis and lanes at {width} x {height}")
            until(lambda width=width: view.run("return document.documentElement.scrollWidth") <= width, f"nothing that scrolls sideways at {width} x {height}")
            sheet = view.run("return byId('panel').getBoundingClientRect().top")
            assert sheet < height, ("the panel is out of sight", width, height, sheet)
            keep(view, f"selected-{width}")
    finally:
        view.cdp("Emulation.clearDeviceMetricsOverride")
    assert view.console() == [], view.console()


def test_truth(place):
    """the page says how many entries are forgotten, and whether it has the bytes that the agent was given"""
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
    """filters fold the lanes and the counts; keys find errors and undelivered notifications; a time finds what the model had been given by then"""
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
    newest = [one for one in data["deliveries"] if one["time"] <= limit][-1]
    assert selected(view) == "A moment", selected(view)
    assert view.text("#panel pre") == strings[newest["shown"][0]], view.text("#panel")
    got = [i for i, one in enumerate(outcomes) if one == "delivered" and items["taken_at"][i] <= limit]
    waits = [i for i, taken in enumerate(items["taken_at"]) if items["time"][i] <= limit and (not taken or taken > limit)]
    assert f"The model had got {len(got)} notifications by then" in view.text("#panel"), view.text("#panel")
    assert f"Waiting at that moment: {len(waits)} notification" in view.text("#panel"), view.text("#panel")
    ended = sum(1 for i, taken in enumerate(items["taken_at"]) if taken and taken <= limit and outcomes[i] not in ("delivered", "pending"))
    assert f"It never got, ended by then: {ended} notification" in view.text("#panel") and f"{outcomes.count('expired')} expired: " not in view.text("#panel"), view.text("#panel")
    view.run("document.querySelector('#panel .go button').click()")
    assert selected(view) == f"Delivery {newest['id']}", selected(view)
    view.run("location.hash = '#delivery=first'")
    until(lambda: selected(view) == f"Delivery {data['deliveries'][0]['id']}", "the first delivery is shown")
    view.run("location.hash = '#message=m3'")
    until(lambda: selected(view) == "Message m3", "the message is shown")
    assert "a trigger" in view.text("#panel") and view.text("#panel .message") == "Look at number 3, and say what broke it.", view.text("#panel")
    assert view.console() == [], view.console()


def test_moment(place):
    """a time without a day is one within the session, even if the page was made days later; the page lists what was never shown, with the reasons"""
    view = browser()
    session(place)
    data = many(400)
    data["time"] += 3 * 86400000  # the page is made three days later
    last = max(data["items"]["time"])
    page = written(place, with_data(page_of(place), data), "moment.html")
    view.open(page)
    view.press("u")
    view.run("const find = byId('find'); find.value = arguments[0]; find.dispatchEvent(new Event('input')); byId('filters').requestSubmit()",
             time.strftime("%H:%M:%S", time.gmtime(last // 1000 - 60)))
    wanted = time.strftime("At %Y-%m-%d %H:%M:%S.000 UTC", time.gmtime(last // 1000 - 60))
    assert view.text("#panel .message") == wanted, (view.text("#panel .message"), wanted)
    assert view.text("#matching") == "", "a time is not searched"
    place_ = view.run("return location.hash")
    view.open(page + place_)
    until(lambda: selected(view) == "A moment", "the link to a moment is followed")
    view.run("location.hash = '#time=2020-01-01T00:00:00Z'")
    until(lambda: "Nothing is known of that time" in view.text("#panel"), "what is not known is said")
    view.press("Escape")
    strings, items = data["strings"], data["items"]
    lost = [strings[one] for one in items["outcome"] if strings[one] not in ("delivered", "pending")]
    assert f"It never got: {len(lost)} notifications" in view.text("#panel"), view.text("#panel")
    for i, one in enumerate(items["outcome"]):
        if strings[one] == "dropped":
            items["text"][2 * i + 1] = len(strings)
            strings.append(f" At 2026-09-21T09:00:00.000Z, it was removed, not shown: notification {i} took <b>7200000 ms</b> (outcome: dropped).")
    view.open(written(place, with_data(page_of(place), data), "moment.html"))
    row = "[...document.querySelectorAll('#panel li button')].find((one) => one.textContent.includes('dropped'))"
    count = lost.count("dropped")
    assert view.run(f"return {row}.textContent").startswith(f"{count} dropped: another notification took <b>2 h 0 min</b>producer-"), view.run(f"return {row}.textContent")
    view.run(row + ".click()")
    assert view.text("#matching") == f"{count} of 400 notifications" and f"It never got: {count} notification" in view.text("#panel"), view.text("#panel")
    view.run("document.querySelector('#panel .go button').click()")
    assert view.text("#matching") == "" and f"It never got: {len(lost)} notifications" in view.text("#panel"), view.text("#panel")
    assert view.console() == [], view.console()


def test_day(place):
    """the page of a day with two thousand real notifications says what the model had been given at 15:40, what it never got, and why"""
    if os.environ.get("TIDINGS_SANITIZE"):
        raise Skip("Python would have to start with the sanitizer's library")
    view = browser()
    store, page = os.path.join(place.dir, "day"), os.path.join(place.work, "day.html")
    made = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "day_store.py"), os.environ["TIDINGS_BUILD_DIR"], store],
                          env={**os.environ, "TZ": "UTC"}, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    place.ok("timeline", "-S", store, "-s", "day", "-o", page)
    history = place.ok("history", "-S", store, "-s", "day", "-n", "10000", "--json").json["deliveries"]
    told = [one for one in history if one["time"] < "2026-11-26T15:40" and any(item["outcome"] == "delivered" for item in one["items"])]
    view.open(page)
    view.run("if (!clock.utc) document.getElementById('clock').click()")
    view.run("const find = byId('find'); find.value = '15:40'; byId('filters').requestSubmit()")
    assert view.text("#panel .message") == "At 2026-11-26 15:40:00.000 UTC", view.text("#panel")
    for item in told[-1]["items"]:
        assert item["outcome"] != "delivered" or item["message"] in view.text("#panel pre"), (item, view.text("#panel pre"))
    count = sum(item["outcome"] == "delivered" for one in told for item in one["items"])
    assert f"The model had got {count} notifications by then" in view.text("#panel"), (count, view.text("#panel"))
    view.press("Escape")
    lost = view.text("#panel").split("It never got: ")[1]
    assert re.search(r"\d+ filtered: the setting conversation.notifications.kinds switches off all notifications of .lint.lint.finding", lost), lost
    assert re.search(r"\d+ dropped: more were pending than the setting delivery.max_items allows", lost) and "cancel each other out" in lost, lost
    keep(view, "day")
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
    """all marks and texts have a contrast of at least 3 : 1 to their background, light and dark"""
    view = browser()
    session(place)
    view.open(written(place, page_of(place)))
    for _ in range(2):
        view.run("document.getElementById('theme').click()")
        drawn(view)
        assert view.run(CONTRAST) == []


# Counts the page's calls that draw and take time.
COUNTED = """
const type = CanvasRenderingContext2D.prototype;
window.drawn = 0;
for (const name of ['fillRect', 'stroke', 'fill', 'fillText', 'strokeRect']) {
  const own = type[name];
  type[name] = function (...given) { window.drawn++; return own.apply(this, given); };
}
"""


def opened_by_cpu(view, page):
    """Returns when the page was drawn, in milliseconds after it began to load, and the CPU seconds of the drawing thread until then."""
    def seconds():
        return next(one["value"] for one in view.cdp("Performance.getMetrics")["metrics"] if one["name"] == "ThreadTime")
    view.ask("POST", "/url", {"url": "about:blank"})
    view.cdp("Performance.enable")
    before = seconds()
    drawn_ms = view.open(page)
    spent = seconds() - before
    view.cdp("Performance.disable")
    return drawn_ms, spent


def test_many(place):
    """a large page opens, its drawing does not grow with the notifications that cannot be distinguished, and the keys work"""
    view = browser()
    session(place)
    pages = {count: written(place, with_data(page_of(place), many(count)), f"many-{count}.html") for count in (MANY // 10, MANY)}
    page = pages[MANY]
    with open(page, encoding="utf-8") as file:
        data = file.read().split(SPLIT)[1].split("</script>")[0]
    bare = written(place, f'<!doctype html><meta charset="utf-8">{SPLIT}{data}</script><script>JSON.parse(document.getElementById("data").textContent);'
                   'document.documentElement.dataset.ready = String(Math.round(performance.now()));</script>', "bare.html")
    # Both are measured in one run by their CPU time, so that other load of the machine counts little.
    rounds = [(opened_by_cpu(view, bare), opened_by_cpu(view, page)) for _ in range(ROUNDS)]
    for (bare_ms, bare_s), (drawn_ms, drawn_s) in rounds:
        print(f"# {MANY:,} notifications, {os.path.getsize(page) / 1e6:.0f} MB: {drawn_s:.2f} s of CPU, {drawn_s / max(bare_s, 0.01):.2f} of the {bare_s:.2f} s "
              f"of a page that only reads the same data; drawn after {drawn_ms} ms, that one {bare_ms} ms")
    strokes = {}
    for count, path in pages.items():
        view.open(path)
        view.run(COUNTED)
        view.run("document.getElementById('top').focus()")
        view.press("0")
        drawn(view)
        strokes[count] = view.run("return window.drawn")
    print(f"# drawn once: {strokes}")
    assert strokes[MANY] < 4 * strokes[MANY // 10] < 100000, strokes  # 10 times as many notifications
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

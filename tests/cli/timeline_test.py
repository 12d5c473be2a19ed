# SPDX-License-Identifier: MIT
"""Tests the file that `tidings timeline` writes. timeline_browser_test.py opens it."""
import base64
import hashlib
import json
import os
import re
import sys

from kit import main
from timeline_pages import data_of

HOSTILE = '</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u202e\u0007 {{x}} ${y} \u2028'


def session(place):
    """Makes two notifications that were delivered together, one of them hostile, and one that waits."""
    place.opened()
    place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "CI run 4812 failed.")
    place.ok("push", "-s", "s", "-k", "tool.stopped", HOSTILE)
    place.ok("deliver", "--at", "tool-result", "-s", "s", "--owner", str(os.getpid()), "--call", "c1", "--tool", "Bash", stdin="ok")
    place.ok("push", "-s", "s", "-k", "ci.passed", "CI run 4813 passed.")


def page_of(place):
    place.ok("timeline", "-s", "s", "-o", "page.html")
    with open(os.path.join(place.work, "page.html"), encoding="utf-8") as file:
        return file.read()


def test_page(place):
    """the page has the text of explain for each notification"""
    session(place)
    data = data_of(page_of(place))
    strings, items = data["strings"], data["items"]
    told = {strings[id_]: strings[items["text"][2 * i]] + strings[items["text"][2 * i + 1]] for i, id_ in enumerate(items["id"])}
    assert len(told) == 3, told
    for id_, text in told.items():
        assert place.ok("explain", "-s", "s", "--json", id_).json["text"] == text, (id_, text)
    assert strings[items["message"][1]] == HOSTILE, items
    assert "CI run 4812 failed." in strings[data["deliveries"][0]["shown"][0]], data


def test_bytes(place):
    """the page has the bytes that each carrier got, under any present configuration, and says how they were rendered"""
    place.opened()
    with open(os.path.join(place.work, "balanced.json"), "w", encoding="utf-8") as file:
        json.dump({"delivery": {"preset": "balanced", "max_bytes": 900}}, file)
    got = []
    for number in range(3):
        place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", f"CI run {number} failed. " + "It has many words. " * 30)
        place.ok("push", "-s", "s", "-k", "mail.arrived", f"Mail {number}: <b>hello</b> --- [x](y)")
        place.ok("submit", "-s", "s", "--steer", f"Look at run {number}.")
        got.append(place.ok("deliver", "--config", "balanced.json", "--at", "tool-result", "-s", "s", "--owner", str(os.getpid()), "--tool", "Bash", stdin="ok").text)
    place.ok("push", "-s", "s", "-k", "ci.passed", "Green again.")
    place.ok("deliver", "--at", "chat-request", "-s", "s", "--owner", str(os.getpid()), stdin="go on")
    data = data_of(page_of(place))
    strings = data["strings"]
    for delivery, text in zip(data["deliveries"], got):
        assert delivery["rendering"]["same"] is True and delivery["rendering"]["preset"] == "balanced", delivery
        assert delivery["rendering"]["room"] == 900, delivery
        shown = "".join(strings[one] for one in delivery["shown"])
        assert text == "ok" + shown and delivery["rendering"]["bytes"] == len(shown.encode()), (text, shown)
    assert all(delivery["rendering"]["same"] for delivery in data["deliveries"] if "rendering" in delivery), data["deliveries"]
    assert data["deliveries"][-1]["rendering"]["preset"] == "grouped", data["deliveries"][-1]


def test_messages(place):
    """the page has the messages of people and triggers, and their states"""
    place.opened()
    place.ok("submit", "-s", "s", "Is the build green? <b>")
    data = data_of(page_of(place))
    assert [(one["state"], data["strings"][one["content"]], one["trigger"]) for one in data["messages"]] == [("offered", "Is the build green? <b>", False)], data["messages"]
    assert "forgotten" not in data


def test_policy(place):
    """only the page's own script and style may run, by their hashes, and no text of a notification can end its data"""
    session(place)
    page = page_of(place)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    hashed = {name: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for name, text in (
        ("script-src", re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]), ("style-src", re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]))}
    assert rules == {"default-src": "'none'", **hashed, "base-uri": "'none'", "form-action": "'none'"}, (rules, hashed)
    assert page.count("<script") == 2 and page.count("</script") == 2 and "alert(1)" in page, page.count("<script")
    assert not re.search(r"https?://|src=|@import|url\(", page.split('id="data">')[0]), "it names something to load"


def test_trace(place):
    """--trace has each notification from its push to its outcome"""
    session(place)
    events = place.ok("timeline", "-s", "s", "--trace", "-o", "-").json["traceEvents"]
    begun = {event["id"]: event for event in events if event["ph"] == "b"}
    ended = {event["id"]: event for event in events if event["ph"] == "e"}
    assert len(begun) == 3 and set(begun) == set(ended), events
    assert all(ended[id_]["ts"] >= event["ts"] for id_, event in begun.items()), events
    assert {event["args"]["outcome"] for event in begun.values()} == {"delivered", "pending"}, events
    assert [event["args"]["tool"] for event in events if event["ph"] == "X" and event["name"] == "tool_result"] == ["Bash"], events
    assert json.dumps(HOSTILE) in json.dumps(events)


def test_refusals(place):
    """timeline says what is missing, and leaves no file if it fails"""
    place.ok("push", "-s", "s", "x")
    place.refused("timeline", "-s", "s", code=2, says="-o FILE is missing")
    reader, writer = os.pipe()
    os.close(reader)
    gone = place.run("timeline", "-s", "s", "-o", "-", stdout=writer)
    os.close(writer)
    assert gone.code == 141 and not gone.said, gone
    place.refused("timeline", "-s", "s", "-o", "no/such/folder", says="no/such/folder")
    place.refused("timeline", "-s", "s", "-S", "nowhere", "-o", "x.html", says="nowhere")
    assert not os.path.exists(os.path.join(place.work, "x.html"))


if __name__ == "__main__":
    sys.exit(main(globals()))

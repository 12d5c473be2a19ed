# SPDX-License-Identifier: MIT
"""record.py: checks that the store's history agrees with the model's requests. Every text that `history` calls delivered must be in a request; if the agent's
hooks write markers, it must be in the text with the delivery's marker. This module knows no agent."""
import html
import json
import re

MARKER = re.compile(r"\[tidings ([0-9a-z]+)-[0-9a-z]{8}\]")
MOST = 10000  # the most deliveries that `history` lists


def marked(request):
    """Returns each text of a hook by the marker at its end; some agents show a text more than once."""
    texts = {}
    for item in request["items"]:
        before, text = 0, html.unescape(item["text"])
        for marker in MARKER.finditer(text):
            texts[marker[1]] = texts.get(marker[1], "") + text[before:marker.start()]
            before = marker.end()
    return texts


def in_base_36(number):
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


def bare(text):
    """Returns the text without characters that escaping, indentation and line ends may change."""
    return re.sub(r"[\s\\`*]+", " ", html.unescape(text))


def words_of(item):
    """Returns the text of an item that a request must contain: the part of its first line that is never cut; for a file, which may be in a list, its
    path."""
    if item["kind"]["name"] == "file.changed":
        path = re.match(r"`(.+?)`", item["message"])
        return bare(path[1] if path else item["message"].split(":")[0]).strip()
    return bare(item["message"].split("\n")[0])[:160].strip()


class Read:
    """All texts that were sent to the model."""

    def __init__(self, requests):
        self.texts, pieces, seen = {}, [], set()
        for request in requests:
            for marker, text in marked(request).items():
                self.texts[marker] = self.texts.get(marker, "") + bare(text)
            for item in request["items"]:
                if item["text"] not in seen:  # each request repeats the conversation
                    seen.add(item["text"])
                    pieces.append(bare(item["text"]))
        self.all = "\n".join(pieces)


def wrong_deliveries(history, read, hooks):
    """Finds items that the store calls shown but no request has."""
    wrong = []
    for delivery in history["deliveries"]:
        if delivery["outcome"] != "committed":
            continue
        text = read.texts.get(in_base_36(int(delivery["id"])), "") if hooks else read.all
        for item in delivery["items"]:
            if item["outcome"] == "delivered" and "message" in item and "counted" not in item["reason"] and words_of(item) not in text:
                wrong.append((delivery["id"], item["id"], item["message"][:80]))
    return wrong


def wrong_reasons(history):
    """Finds items that are called shown although their delivery was not settled, or was taken back. A rewound delivery was shown once."""
    return [(delivery["id"], delivery["outcome"], item["id"]) for delivery in history["deliveries"] if delivery["outcome"] not in ("committed", "rewound")
            for item in delivery["items"] if item["outcome"] == "delivered" and item["reason"].startswith("shown")]


def compare(place, session, requests, hooks):
    """Raises an error if they do not agree; returns the ids of the fired messages. `hooks`: the agent calls hooks, so its texts have markers."""
    read = Read(requests)
    history = json.loads(place.tidings("history", "-s", session, "--limit", str(MOST), "--json"))
    wrong = wrong_deliveries(history, read, hooks)
    assert not wrong, f"called shown, and in no request: delivery, item, message: {wrong}"
    early = wrong_reasons(history)
    assert not early, f"called shown, though nothing says that it was: delivery, its outcome, item: {early}"
    return {message["id"] for transition in history["transitions"] for message in transition.get("messages", ()) if message["state"] == "fired"}


def compare_all(place, requests, hooks, without=None):
    """Does the same for every session of the store. `without`: a session whose transcript a test has written itself."""
    for one in json.loads(place.tidings("status", "--all", "--json"))["sessions"]:
        if one["session"] != without:
            compare(place, one["session"], requests, hooks)

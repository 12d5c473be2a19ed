#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the words with which `tidings hook` shows notifications: plain ones, unless a configuration chooses others."""
import os
import sys

from calls import HOSTS, call, context, log
from kit import main


def test_presets(place):
    """a hook shows notifications as a plain list, unless the user's configuration names a preset; the other keys of the configuration apply in any case"""
    header = "While you worked (not from the user):\n"
    shown = {
        None: header + "- [error cli] one\n- [cli] two",
        '{"delivery": {"max_items": 1}}': header + "- [error cli] one\n(1 more notification pending)",
        '{"turns": {}}': header + "- [error cli] one\n- [cli] two",
        '{"delivery": {}}': header + "- [error cli] one\n- [cli] two",
        '{"delivery": {"preset": "xml"}}': '<notification source="cli" name="note" level="error">\none\n</notification>\n\n<notification source="cli" name="note">\ntwo\n</notification>',
    }
    for host, (_, tool, _, _) in HOSTS.items():
        for number, (configuration, expected) in enumerate(shown.items()):
            session, words = f"{host}-{number}", ()
            if configuration:
                words = ("--config", os.path.join(place.work, "config.json"))
                with open(words[1], "w", encoding="utf-8") as file:
                    file.write(configuration)
            place.ok("push", "-s", session, "-l", "error", "one")
            place.ok("push", "-s", session, "two")
            answer = call(place, host, tool, session, words, tool_name="t", tool_use_id="c", tool_input={}, tool_response="x")
            assert context(answer, tool) == expected, (configuration, answer)
    with open(os.path.join(place.work, ".tidings.json"), "w", encoding="utf-8") as file:
        file.write('{"delivery": {"max_items": 1}}')
    for session, configuration, expected in (("project", "{}", shown['{"delivery": {"max_items": 1}}']),
                                             ("project-xml", '{"delivery": {"preset": "xml"}}', '<notification source="cli" name="note" level="error">\none\n</notification>\n\n(1 more notification pending)')):
        with open(words[1], "w", encoding="utf-8") as file:
            file.write(configuration)
        place.ok("push", "-s", session, "-l", "error", "one")
        place.ok("push", "-s", session, "two")
        answer = call(place, "codex", "PostToolUse", session, words, tool_name="t", tool_use_id="c", tool_input={}, tool_response="x")
        assert context(answer, "PostToolUse") == expected, (configuration, answer)
    os.remove(os.path.join(place.work, ".tidings.json"))
    assert log(place) == []
    for wrong in ('{"delivery": {"presets": "xml"}}', '{"delivery": []}', "[]", "{"):
        with open(words[1], "w", encoding="utf-8") as file:
            file.write(wrong)
        place.ok("push", "-s", "wrong", "three")
        assert call(place, "codex", "PostToolUse", "wrong", words, tool_name="t", tool_use_id="c", tool_input={}, tool_response="x") == {}
        assert words[1] in log(place)[-1], log(place)[-1]


if __name__ == "__main__":
    sys.exit(main(globals()))

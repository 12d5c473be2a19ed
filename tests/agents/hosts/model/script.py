# SPDX-License-Identifier: MIT
"""script.py: which answer a request gets. Knows requests only in the common form of common.py, and nothing of HTTP.

A script is a list of rules; server.py tells how one is written.
"""

DEFAULT = [{"text": "Done."}]


class Script:
    def __init__(self, rules):
        for number, rule in enumerate(rules):
            unknown = set(rule) - {"name", "prompt", "text", "protocol", "tools", "answers"}
            if unknown:
                raise ValueError(f"rule {number}: unknown keys {sorted(unknown)}")
            for answer in rule["answers"]:
                check_answer(number, answer)
        self.rules = rules

    def answer(self, request):
        """The name of the rule that fits (None: none does), and its answer: a list of parts."""
        best, best_place = None, None
        for rule in self.rules:
            place = fits(rule, request)
            if place is not None and (best is None or place > best_place):
                best, best_place = rule, place
        if best is None:
            return None, DEFAULT
        answers, used = best["answers"], answers_since(request["items"], best_place[0])
        return best.get("name", best.get("prompt", best.get("text", ""))), answers[used] if used < len(answers) else DEFAULT


def check_answer(number, answer):
    for part in answer:
        kinds = set(part) & {"text", "call", "hold", "status", "tokens"}
        unknown = set(part) - {"text", "call", "hold", "status", "tokens", "arguments", "input", "id", "namespace", "until", "times", "headers", "message"}
        if len(kinds) != 1 or unknown:
            raise ValueError(f"rule {number}: {part} is no part of an answer")


def fits(rule, request):
    """None, or where its prompt stands last: in which item of the conversation (-1: it names none), and where in that."""
    if bool(request["tools"]) != rule.get("tools", True) or rule.get("protocol", request["protocol"]) != request["protocol"]:
        return None
    if rule.get("text", "") not in request["text"]:
        return None
    if "prompt" not in rule:
        return -1, 0
    places = [(place, item["text"].rfind(rule["prompt"])) for place, item in enumerate(request["items"]) if item["role"] == "user" and rule["prompt"] in item["text"]]
    return places[-1] if places else None


def answers_since(items, place):
    """How often the model has spoken since: neighbouring texts and calls are one answer."""
    count, speaking = 0, False
    for item in items[place + 1:]:
        if item["role"] == "assistant" and not speaking:
            count += 1
        speaking = item["role"] == "assistant"
    return count

# SPDX-License-Identifier: MIT
"""script.py: chooses the answer to a request. It takes requests in the form of common.py, and does not use HTTP.

A script is a list of rules; server.py describes them.
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
        """Returns the name of the rule that fits (None: none does), and its answer, a list of parts."""
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
    """Returns the last place of the rule's prompt: the item of the conversation (-1: the rule has no prompt), and the place in it. None: the rule
    does not fit."""
    if bool(request["tools"]) != rule.get("tools", True) or rule.get("protocol", request["protocol"]) != request["protocol"]:
        return None
    if rule.get("text", "") not in request["text"]:
        return None
    if "prompt" not in rule:
        return -1, 0
    places = [(place, item["text"].rfind(rule["prompt"])) for place, item in enumerate(request["items"]) if item["role"] == "user" and rule["prompt"] in item["text"]]
    return places[-1] if places else None


def answers_since(items, place):
    """Counts the model's answers since the prompt; neighbouring texts and calls are one answer."""
    count, speaking = 0, False
    for item in items[place + 1:]:
        if item["role"] == "assistant" and not speaking:
            count += 1
        speaking = item["role"] == "assistant"
    return count

# SPDX-License-Identifier: MIT
"""asked.py STORE [CONFIGURATION]: a host that reads one JSON call a line, makes it, and prints one answer a line."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

opened = kit.Kit(sys.argv[1], config=json.loads(sys.argv[2]) if len(sys.argv) == 3 else None)
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = opened.call(request.pop("op"), **request)
    except kit.Failed as failed:
        answer = {"error": {"code": failed.code, "text": failed.text}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
opened.close()

# SPDX-License-Identifier: MIT
"""producer.py STORE SESSION NAME: pushes numbered notifications until it is ended; prints "acked NAME-N" for each that was stored."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

store, session, name = sys.argv[1:]
opened, number = None, 0
while True:
    try:
        if not opened:
            opened = kit.Kit(store, role="producer", budget_ms=1000)
        token = f"{name}-{number}"
        opened.call("push", session=session, kind="fleet.test", message=f"#{token}#", source=name, id=token)
        os.write(1, f"acked {token}\n".encode())
        number += 1
    except kit.Failed as failed:
        if failed.code == "TIDINGS_E_FULL":
            time.sleep(0.05)
        else:
            os.write(1, f"failed {failed.code}\n".encode())
            time.sleep(0.02)

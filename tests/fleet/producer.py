# SPDX-License-Identifier: MIT
"""producer.py STORE SESSION NAME: pushes numbered notifications until it is ended; prints "acked NAME-N BEGAN ENDED" for each that was
stored, and "failed NAME-N BEGAN ENDED CODE", with the times of the machine's clock that all processes share."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

store, session, name = sys.argv[1:]
opened, number, began = None, 0, 0.0
while True:
    try:
        if not opened:
            opened = kit.Kit(store, role="producer", budget_ms=1000)
        token, began = f"{name}-{number}", time.monotonic()
        opened.call("push", session=session, kind="fleet.test", message=f"#{token}#", source=name, id=token)
        os.write(1, f"acked {token} {began} {time.monotonic()}\n".encode())
        number += 1
    except kit.Failed as failed:
        if failed.code == "TIDINGS_E_FULL":
            time.sleep(0.05)
        else:
            if opened:
                os.write(1, f"failed {name}-{number} {began} {time.monotonic()} {failed.code}\n".encode())
            time.sleep(0.02)

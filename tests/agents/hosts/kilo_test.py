#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kilo_test.py: tests Kilo from npm, which loads opencode's module, in the scenarios of opencode. Prints TAP."""
import sys

import opencode_test


class Kilo(opencode_test.Opencode):
    name, title = "kilo", "Kilo"


if __name__ == "__main__":
    sys.exit(opencode_test.main(Kilo))

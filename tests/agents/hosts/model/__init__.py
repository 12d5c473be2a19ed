# SPDX-License-Identifier: MIT
"""A model that is a script: see server.py."""

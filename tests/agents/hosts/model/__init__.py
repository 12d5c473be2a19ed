# SPDX-License-Identifier: MIT
"""A scripted model: see server.py."""

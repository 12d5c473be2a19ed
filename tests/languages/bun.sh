# SPDX-License-Identifier: MIT
# Sourced by run.sh: the npm package, in Bun.
. "$TIDINGS_SOURCE_DIR/tests/languages/node.sh"

# SPDX-License-Identifier: MIT
#
# tap.sh: points of TAP for scripts that source it. `failed` is 1 after the first that failed.
failed=0

# Prints the part of a failed log that a point shows; a script may redefine it.
excerpt() { tail -n 60 "$1"; }

point() { # STATUS TITLE LOG
  if [ "$1" -eq 0 ]; then
    printf 'ok - %s\n' "$2"
  else
    failed=1
    printf 'not ok - %s\n' "$2"
    excerpt "$3" | sed 's/^/# /'
  fi
}

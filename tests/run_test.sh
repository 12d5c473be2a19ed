#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_test.sh LOG PROGRAM ARGS…: runs a test so that no sanitizer report can be overlooked. A test framework that forks, or a test whose
# child is expected to die, may swallow the exit status of a process with a report; so each process writes its report to LOG.<pid>,
# and any such file fails the test. It works with any program.
set -u
log=$1
shift
mkdir -p "$(dirname "$log")"
rm -f "$log".*
common="log_path=$log:exitcode=99"
export ASAN_OPTIONS="abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:$common${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1:abort_on_error=1:$common${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=0:second_deadlock_stack=1:$common${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

# gcc 12's sanitizers do not know address layouts with more than 28 random bits, which some kernels use.
if [ -n "${TIDINGS_SANITIZE:-}" ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ] && setarch -R true 2>/dev/null; then
  set -- setarch -R "$@"
fi

"$@"
status=$?

shopt -s nullglob
for report in "$log".*; do
  # The leak checker writes only this line if its process is killed during the check; that is no finding.
  if ! grep -qv '^==[0-9]*==Unable to get registers from thread [0-9]*\.$' "$report"; then continue; fi
  echo "not ok - sanitizer report $report"
  cat "$report"
  if [ "$status" -eq 0 ] || [ "$status" -eq 77 ]; then status=99; fi
done
exit "$status"

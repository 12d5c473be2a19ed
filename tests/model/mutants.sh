#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mutants.sh CC SOURCE_DIR: the model check sees what it is for. Each mutant is the machine with a few words changed; a model check that stays green, or
# names another law, fails this test. Prints TAP.
set -euo pipefail
cc=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c17 -D_GNU_SOURCE -O1 -w "-I$source/abi" "-I$source" "-I$source/plugin" "-I$source/tests/model")
number=0 failed=0

compile() { "$cc" "${flags[@]}" -c "$1" -o "$2"; }

for file in "$source"/tests/model/*.c "$source"/plugin/rules/turns/*.c "$source"/plugin/values/run.c "$source"/common/{buffer,error,utf8}.c; do
  compile "$file" "$work/$(basename "$file" .c).o"
done

# link OBJECT-LEFT-OUT MUTANT.o PROGRAM
link() {
  local objects
  mapfile -t objects < <(find "$work" -maxdepth 1 -name '*.o' ! -name "$1")
  "$cc" -o "$3" "$2" "${objects[@]}"
}

# mutant LAW FILE WORDS REPLACEMENT: the words are in one line of the file, once.
mutant() {
  local law=$1 file=$source/plugin/$2 made=$work/mutant
  number=$((number + 1))
  if [[ $(grep -cF -- "$3" "$file") != 1 ]]; then
    printf 'not ok %d - %s does not have "%s" once any more\n' "$number" "$2" "$3"
    failed=1
    return
  fi
  WORDS=$3 REPLACEMENT=$4 awk '{ at = index($0, ENVIRON["WORDS"])
    if (at) $0 = substr($0, 1, at - 1) ENVIRON["REPLACEMENT"] substr($0, at + length(ENVIRON["WORDS"]))
    print }' "$file" >"$made.c"
  compile "$made.c" "$made.object"
  link "$(basename "$2" .c).o" "$made.object" "$made"
  if "$made" 6 >"$made.out" 2>&1; then
    printf 'not ok %d - unnoticed: %s\n' "$number" "$law"
    failed=1
  elif grep -qF -- ": $law" "$made.out"; then
    printf 'ok %d - noticed: %s\n' "$number" "$law"
  else
    printf 'not ok %d - noticed, but not as: %s\n' "$number" "$law"
    grep '^not ok' "$made.out" | sed 's/^/# /'
    failed=1
  fi
}

mutant "a later message never fires ahead of an earlier one" rules/turns/queue.c "if (message->state != MESSAGE_QUEUED || (coalescing" \
  "if (!coalescing && i + 1 < step->turns->count && message[1].state == MESSAGE_QUEUED) continue; if (message->state != MESSAGE_QUEUED || (coalescing"
mutant "serial takes one message a turn" rules/turns/queue.c "(coalescing || !count); i++" "true; i++"
mutant "coalescing takes all that are queued at that instant" rules/turns/queue.c "(coalescing || !count); i++" "!count; i++"
mutant "one turn at a time" rules/turns/queue.c "if (run->state == RUN_IDLE && !run->settling) offer" \
  "if (run->state == RUN_BUSY || run->state == RUN_IDLE) offer"
mutant "nothing is offered when nobody is attached" rules/turns/queue.c "if (!step->input->owned || run->compacting) return;" "if (run->compacting) return;"
mutant "nothing is offered while the session is compacted" rules/turns/queue.c "if (!step->input->owned || run->compacting) return;" "if (!step->input->owned) return;"
mutant "queued_at grows in commit order, whatever the clock does" rules/turns/queue.c "run->last_stamp_ms + 1;" "run->last_stamp_ms;"
mutant "the queue is in the order of submitting and moving" rules/turns/queue.c "message->place = low + (high - low) / 2" "message->place = high + 1"
mutant "a failed turn pauses the drain" rules/turns/machine.c "  return step->run->state == RUN_IDLE ? offer_unless_settling(step) : 0;" "  return offer_unless_settling(step);"
mutant "a queue does not rest without reason" rules/turns/carriers.c "if (any && run->state == RUN_IDLE && !run->settling) offer_batch(step);" ""
mutant "compacting lasts from its begin to its end" rules/turns/turn.c "if (message->state == MESSAGE_STEERING) requeue(message);" \
  "if (message->state == MESSAGE_STEERING) { requeue(message); step->run->compacting = false; }"
mutant "only a turn can be steered into" rules/turns/turn.c "if (message->state == MESSAGE_STEERING) requeue(message);" ""
mutant "a message goes from state to state as documented, and never fires twice" rules/turns/carriers.c "message->state == MESSAGE_FIRED && !message->delivery;" \
  "message->state == MESSAGE_FIRED;"
mutant "what a committed carrier had is over" rules/turns/carriers.c "message->state == MESSAGE_QUEUED || message->state == MESSAGE_LEASED;" "message->state == MESSAGE_QUEUED;"
mutant "whoever goes on comes to the end of the queue" rules/turns/machine.c \
  "if (run->state == RUN_IDLE && run->settling && is_due(run, input->settings, input->now_ms)) offer_batch(step);" ""
mutant "what is leased is on its carriers" rules/turns/carriers.c "message->carriers++;" "message->carriers = 1;"
mutant "what changed is written" rules/turns/turn.c "if (message->orphaned) message->changed = true;" ""
mutant "an offer is of its messages only" rules/turns/carriers.c "message->state == MESSAGE_OFFERED || lost_carrier" "lost_carrier"
mutant "an error changes nothing" rules/turns/names.c "if (!all_of_turn) return MEANS_OTHER;" "if (!all_of_turn) { step->run->attempt++; return MEANS_OTHER; }"
mutant "the table refuses this event in this state" rules/turns/machine.c "  if (meaning_of_names(step) != MEANS_TURN) return refuse_other_turn(step);" ""
mutant "the table says that this event has no effect in this state" rules/turns/machine.c "  case MEANS_ENDED: return 0;" "  case MEANS_ENDED: return 1;"
mutant "a host that declines is not asked again at once" rules/turns/machine.c "step->run->asked = step->input->last_item;" ""
mutant "a host that runs or was asked is not asked to start a turn" rules/turns/machine.c "run->state == RUN_STARTING && !run->told && !run->compacting;" \
  "run->state == RUN_STARTING && !run->compacting;"
mutant "urgency never jumps the queue" rules/turns/urge.c "if (anything_queued(step->turns)) {" "if (false) {"
mutant "what asks for a turn does not rest in an idle session" rules/turns/urge.c "offer_batch(step);" "offer_batch(step), run->asked = urgency->asking;"
mutant "what asks for a turn does not rest in an idle session" rules/turns/machine.c "  step->run->asked = 0;" ""
mutant "a stream is stopped once a turn" rules/turns/urge.c "run->aborted = true;" ""
mutant "stopped streams are limited" rules/turns/urge.c "recent >= settings->max_aborts" "recent >= 1000"
mutant "turns of the plugin's own in a row are limited" rules/turns/urge.c "else if (run->auto_turns < step->input->settings->max_auto_turns)" "else"
printf '1..%d\n' "$number"
exit "$failed"

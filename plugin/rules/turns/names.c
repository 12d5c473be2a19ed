/* SPDX-License-Identifier: MIT
 *
 * rules/turns/names.c: do the ids that the host gives name the turn that is offered or runs? It
 * also has the error texts if they do not.
 */
#include <stdio.h>

#include "rules/turns/internal.h"

static const char system_prefix[] = SYSTEM_TURN_PREFIX;

/* The number of a turn of the plugin's own; 0: there was none of that id. */
static uint64_t system_turn_of(const struct run *run, struct tidings_span id) {
  size_t prefix = sizeof system_prefix - 1;
  uint64_t n = 0;
  if (id.len <= prefix || id.len > prefix + 19 || memcmp(id.ptr, system_prefix, prefix) != 0 ||
      id.ptr[prefix] == '0')
    return 0;
  for (size_t i = prefix; i < id.len; i++) {
    if (id.ptr[i] < '0' || id.ptr[i] > '9') return 0;
    n = n * 10 + (uint64_t)(id.ptr[i] - '0');
  }
  return n <= run->system_turns ? n : 0;
}

static bool is_current_system_turn(const struct run *run, uint64_t n) {
  return run_has_turn(run) && run->kind == TURN_OF_SYSTEM && n == run->system_turns;
}

/* Is its turn over, or is its carrier still out for a turn that is not the running one? */
static bool has_ended(const struct message *message) {
  return (message->state == MESSAGE_FIRED || message->state == MESSAGE_LEASED) && !message->of_turn;
}

enum meaning turns_meaning_of_names(const struct step *step) {
  const struct turns *turns = step->turns;
  const struct turns_input *input = step->input;
  bool all_of_turn = true, all_ended = true;
  bool system_named = step->run->kind != TURN_OF_SYSTEM;
  for (size_t i = 0; i < turns->count; i++) turns->messages[i].named = false;
  for (size_t i = 0; i < input->named_count; i++) {
    struct message *message =
        input->named[i] == NOT_A_MESSAGE ? NULL : &turns->messages[input->named[i]];
    uint64_t system = message ? 0 : system_turn_of(step->run, input->ids[i]);
    bool current = message ? message->of_turn : system && is_current_system_turn(step->run, system);
    if (message) message->named = true;
    else if (current) system_named = true;
    all_of_turn = all_of_turn && current;
    all_ended = all_ended && (message ? has_ended(message) : system && !current);
  }
  if (all_ended) return MEANS_ENDED;
  if (!all_of_turn) return MEANS_OTHER;
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].of_turn && !turns->messages[i].named) return MEANS_PART;
  }
  return system_named ? MEANS_TURN : MEANS_PART;
}

/* -- words ------------------------------------------------------------------------------------- */

int turns_not_submitted(struct tidings_span id, struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOT_FOUND, "message %s was never submitted to this session",
              quote(id).text);
}

int turns_refuse_waiting(const struct message *message, struct tidings_span id, const char *what,
                         struct tidings_error *error) {
  switch (message->state) {
  case MESSAGE_OFFERED:
    return fail(error, TIDINGS_E_FIRED,
                "message %s is offered to the host; it cannot be %s any more", quote(id).text,
                what);
  case MESSAGE_LEASED:
    return fail(error, TIDINGS_E_FIRED,
                "message %s is on its way to the model; it cannot be %s any more", quote(id).text,
                what);
  case MESSAGE_CANCELLED:
    return fail(error, TIDINGS_E_NOT_FOUND, "message %s was cancelled; it cannot be %s",
                quote(id).text, what);
  case MESSAGE_CLOSED:
    return fail(error, TIDINGS_E_NOT_FOUND,
                "message %s ended when its session was closed; it cannot be %s", quote(id).text,
                what);
  default:
    return fail(error, TIDINGS_E_FIRED, "message %s has fired; it cannot be %s any more",
                quote(id).text, what);
  }
}

static int refuse_name(const struct step *step, size_t i) {
  const struct turns_input *input = step->input;
  struct tidings_span id = input->ids[i];
  if (input->named[i] == NOT_A_MESSAGE) {
    if (system_turn_of(step->run, id))
      return fail(step->error, TIDINGS_E_FIRED, "turn %s is over; it is not on offer",
                  quote(id).text);
    return turns_not_submitted(id, step->error);
  }
  const struct message *message = &step->turns->messages[input->named[i]];
  switch (message->state) {
  case MESSAGE_QUEUED:
  case MESSAGE_STEERING:
    return fail(step->error, TIDINGS_E_STATE, "message %s is %s, not on offer (the session is %s)",
                quote(id).text, message_state_name(message->state),
                run_state_name(step->run->state));
  default: return turns_refuse_waiting(message, id, "started", step->error);
  }
}

int turns_refuse_names(const struct step *step) {
  for (size_t i = 0; i < step->input->named_count; i++) {
    ptrdiff_t index = step->input->named[i];
    bool current =
        index == NOT_A_MESSAGE
            ? is_current_system_turn(step->run, system_turn_of(step->run, step->input->ids[i]))
            : step->turns->messages[index].of_turn;
    if (!current) return refuse_name(step, i);
  }
  return turns_refuse_state(step, "the messages of a turn");
}

static const char *message_is_named(uint8_t state) {
  static const char *const words[MESSAGE_STATE_COUNT] = {"?",
                                                         "is queued",
                                                         "waits for a tool result",
                                                         "is offered",
                                                         "is on a carrier",
                                                         "has fired",
                                                         "was cancelled",
                                                         "was closed"};
  return state < MESSAGE_STATE_COUNT ? words[state] : "?";
}

/* The origin of the turn: the first of its messages, or the plugin's own. */
static struct tidings_span turn_id(const struct step *step, struct system_id *system) {
  const struct turns *turns = step->turns;
  if (!run_has_turn(step->run)) return span_of(NULL, 0);
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].of_turn) return turns->messages[i].id;
  }
  if (step->run->kind != TURN_OF_SYSTEM) return span_of(NULL, 0);
  *system = system_turn_id(step->run->system_turns);
  return span_text(system->text);
}

struct state_text {
  char text[480];
};

/* "busy with "m1"" */
static struct state_text describe_state(const struct step *step) {
  struct state_text state_text;
  struct system_id system;
  struct tidings_span id = turn_id(step, &system);
  const char *state = run_state_name(step->run->state);
  if (id.len)
    (void)snprintf(state_text.text, sizeof state_text.text, "%s with %s", state, quote(id).text);
  else if (run_has_turn(step->run))
    (void)snprintf(state_text.text, sizeof state_text.text, "%s with a turn of the host's own",
                   state);
  else (void)snprintf(state_text.text, sizeof state_text.text, "%s", state);
  return state_text;
}

int turns_refuse_state(const struct step *step, const char *expected) {
  return fail(step->error, TIDINGS_E_STATE, "the session is %s; expected %s",
              describe_state(step).text, expected);
}

int turns_refuse_other_turn(const struct step *step) {
  const struct turns_input *input = step->input;
  for (size_t i = 0; i < input->named_count; i++) {
    ptrdiff_t index = input->named[i];
    bool current = index == NOT_A_MESSAGE
                       ? is_current_system_turn(step->run, system_turn_of(step->run, input->ids[i]))
                       : step->turns->messages[index].of_turn;
    if (current) continue;
    return fail(step->error, TIDINGS_E_STATE,
                "the session is %s; message %s %s, not part of a turn that could be meant",
                describe_state(step).text, quote(input->ids[i]).text,
                index == NOT_A_MESSAGE ? "was never submitted to it"
                                       : message_is_named(step->turns->messages[index].state));
  }
  return fail(step->error, TIDINGS_E_STATE,
              "the session is %s; expected all messages of that turn, not some",
              describe_state(step).text);
}

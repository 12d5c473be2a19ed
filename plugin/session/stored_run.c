/* SPDX-License-Identifier: MIT
 */
#include "session/stored_run.h"

#include <stdlib.h>

#include "common/error.h"

static int no_memory_for_messages(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for a session's messages");
}

/* -- reading ----------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const struct message *left = a, *right = b;
  if (left->place != right->place) return left->place < right->place ? -1 : 1;
  return left->n < right->n ? -1 : left->n > right->n;
}

/* Rows are read in the order of their numbers, and so places mostly grow. Then nothing is sorted; a
 * long queue would pay for that with each event. */
static void sort_rows(void *rows, size_t count, size_t size,
                      int (*order)(const void *, const void *)) {
  for (size_t i = 1; i < count; i++) {
    const char *row = (const char *)rows + i * size;
    if (order(row - size, row) <= 0) continue;
    qsort(rows, count, size, order);
    return;
  }
}

struct slot { /* the place of a message */
  uint64_t n;
  ptrdiff_t index;
};

static int by_number(const void *a, const void *b) {
  const struct slot *left = a, *right = b;
  return left->n < right->n ? -1 : left->n > right->n;
}

static struct slot *make_slots(const struct turns *turns, struct arena *arena) {
  struct slot *slots = arena_zalloc(arena, turns->count + 1, sizeof *slots);
  for (size_t i = 0; slots && i < turns->count; i++)
    slots[i] = (struct slot){turns->messages[i].n, (ptrdiff_t)i};
  if (slots) sort_rows(slots, turns->count, sizeof *slots, by_number);
  return slots;
}

static ptrdiff_t find_slot(const struct slot *slots, size_t count, uint64_t n) {
  struct slot key = {.n = n};
  const struct slot *found = n ? bsearch(&key, slots, count, sizeof *slots, by_number) : NULL;
  return found ? found->index : NOT_A_MESSAGE;
}

/* Adds the named messages that are over, and so are not among the live ones. */
static int add_named(struct op *op, struct stored_run *stored, const uint64_t *numbers,
                     size_t count, struct tidings_error *error) {
  struct turns *turns = &stored->turns;
  size_t live = turns->count;
  struct slot *slots = make_slots(turns, &op->arena);
  if (!slots) return no_memory_for_messages(error);
  for (size_t i = 0; i < count; i++) {
    bool known = !numbers[i] || find_slot(slots, live, numbers[i]) != NOT_A_MESSAGE;
    for (size_t j = live; !known && j < turns->count; j++)
      known = turns->messages[j].n == numbers[i];
    if (known) continue;
    struct tidings_error why = {.size = sizeof why};
    int code = message_get(op->txn, op->session, numbers[i], &op->arena,
                           &turns->messages[turns->count], &why);
    if (code == TIDINGS_E_NOT_FOUND || code == TIDINGS_E_STORE)
      continue; /* a forgotten or damaged one counts as never submitted */
    if (code) return fail(error, code, "%s", why.text);
    turns->count++;
  }
  return 0;
}

int stored_run_load_numbers(struct op *op, struct stored_run *stored, const uint64_t *numbers,
                            size_t count, ptrdiff_t *ret_named, struct tidings_error *error) {
  struct turns *turns = &stored->turns;
  turns->run = op->head.run;
  stored->from = turns->run.state;
  stored->system_from = turns->run.kind == TURN_OF_SYSTEM ? turns->run.system_turns : 0;
  int code = message_live(op->txn, op->session, turns->run.first_message, count + 1, &op->arena,
                          &turns->messages, &turns->count, error);
  if (!code) code = add_named(op, stored, numbers, count, error);
  if (code) return code;
  sort_rows(turns->messages, turns->count, sizeof *turns->messages, by_place);
  struct slot *slots = count ? make_slots(turns, &op->arena) : NULL;
  if (count && !slots) return no_memory_for_messages(error);
  for (size_t i = 0; i < count; i++) ret_named[i] = find_slot(slots, turns->count, numbers[i]);
  return 0;
}

int stored_run_load(struct op *op, struct stored_run *stored, const struct tidings_span *ids,
                    size_t count, ptrdiff_t *ret_named, struct tidings_error *error) {
  uint64_t *numbers = arena_zalloc(&op->arena, count + 1, sizeof *numbers);
  int code = numbers ? 0 : no_memory_for_messages(error);
  for (size_t i = 0; !code && i < count; i++)
    code = message_find(op->txn, op->session, ids[i], &numbers[i], error);
  return code ? code : stored_run_load_numbers(op, stored, numbers, count, ret_named, error);
}

struct turns_input stored_run_input(const struct op *op, enum turns_event event) {
  return (struct turns_input){
      .event = event, .now_ms = op->now_ms, .ahead_ms = op->ahead_ms, .settings = op->settings};
}

int stored_run_carried(struct op *op, const struct stored_run *stored, uint64_t delivery,
                       const uint64_t **ret_numbers, size_t *ret_count) {
  const struct turns *turns = &stored->turns;
  uint64_t *numbers = arena_zalloc(&op->arena, turns->count + 1, sizeof *numbers);
  size_t count = 0;
  if (!numbers) return -1;
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].delivery == delivery) numbers[count++] = turns->messages[i].n;
  }
  *ret_numbers = numbers;
  *ret_count = count;
  return 0;
}

int stored_run_steered(struct op *op, const struct stored_run *stored, uint64_t delivery,
                       struct steered *ret_steered, struct tidings_error *error) {
  const struct turns *turns = &stored->turns;
  struct tidings_span *contents = arena_zalloc(&op->arena, turns->count + 1, sizeof *contents);
  struct tidings_span *ids = arena_zalloc(&op->arena, turns->count + 1, sizeof *ids), trigger;
  size_t count = 0;
  if (!contents || !ids) return no_memory_for_messages(error);
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].delivery != delivery) continue;
    int code = content_get(op->txn, op->session, turns->messages[i].n, &op->arena, &contents[count],
                           &trigger, error);
    if (code) return code;
    ids[count++] = turns->messages[i].id;
  }
  *ret_steered = (struct steered){contents, ids, count};
  return 0;
}

/* -- writing ----------------------------------------------------------------------------------- */

static bool is_alive(const struct message *message) {
  return !message_is_over(message->state) || message->of_turn || message->orphaned;
}

static int save_messages(struct op *op, struct stored_run *stored, struct tidings_error *error) {
  struct turns *turns = &stored->turns;
  bool says_end = !store_has_older_builds(op->instance->store); /* they may refuse such a row */
  int code = 0;
  turns->run.first_message = turns->run.last_message + 1;
  for (size_t i = 0; !code && i < turns->count; i++) {
    struct message *message = &turns->messages[i];
    if (message_is_over(message->state) && message->changed)
      message->due_ms = says_end ? op->now_ms : 0;
    if (is_alive(message) && message->n < turns->run.first_message)
      turns->run.first_message = message->n;
    if (message->n == stored->added)
      code = message_add(op->txn, op->session, message, stored->content, stored->trigger, error);
    else if (message->changed) code = message_put(op->txn, op->session, message, error);
  }
  return code;
}

static int save_content(struct op *op, struct stored_run *stored, struct tidings_error *error) {
  struct tidings_span content, trigger;
  if (!stored->edited) return 0;
  int code =
      content_get(op->txn, op->session, stored->edited, &op->arena, &content, &trigger, error);
  return code ? code
              : content_put(op->txn, op->session, stored->edited, stored->content, trigger, error);
}

/* Writes the transition: what the step changed, and in which turn. */
static int save_transition(struct op *op, struct stored_run *stored, enum turns_event event,
                           bool abort, struct tidings_error *error) {
  const struct turns *turns = &stored->turns;
  const struct run *run = &turns->run;
  bool of_turn = abort || run->state != stored->from || event == TURNS_STOP;
  size_t most = 1;
  for (size_t i = 0; i < turns->count; i++)
    most += turns->messages[i].changed || turns->messages[i].of_turn;
  struct transition_message *messages = arena_zalloc(&op->arena, most, sizeof *messages);
  struct transition transition = {.n = ++op->head.last_transition,
                                  .time_ms = op->now_ms,
                                  .event = (uint8_t)event,
                                  .from = stored->from,
                                  .to = run->state,
                                  .abort = abort,
                                  .system = stored->moved_to              ? stored->moved_to
                                            : run->kind == TURN_OF_SYSTEM ? run->system_turns
                                                                          : stored->system_from,
                                  .messages = messages};
  if (!messages) return no_memory_for_messages(error);
  for (size_t i = 0; i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    if (!message->changed && !(of_turn && message->of_turn)) continue;
    messages[transition.message_count++] =
        (struct transition_message){.id = message->id, .state = message->state};
  }
  return transition_put(op->txn, op->session, &transition, error);
}

bool stored_run_changes_only_phase(const struct op *op, const struct stored_run *stored) {
  const struct turns *turns = &stored->turns;
  struct run run = turns->run;
  run.phase = op->head.run.phase;
  if (stored->added || stored->edited || !turns_same_run(&run, &op->head.run)) return false;
  for (size_t i = 0; i < turns->count; i++) {
    if (turns->messages[i].changed) return false;
  }
  return true;
}

int stored_run_save(struct op *op, struct stored_run *stored, enum turns_event event, bool abort,
                    bool *ret_changed, struct tidings_error *error) {
  struct turns *turns = &stored->turns;
  struct run *run = &turns->run;
  bool changed = false;
  /* Builds before layout 4 would take a head with this time for damaged, so it is left out of such
   * stores. Without it, an item that was not due asks for no turn once a later item has asked. */
  if (store_has_older_builds(op->instance->store)) run->asked_ms = 0;
  for (size_t i = 0; i < turns->count; i++) changed = changed || turns->messages[i].changed;
  bool has_transition = changed || abort || run->state != stored->from ||
                        (event == TURNS_STOP && run->stop != op->head.run.stop);
  if (!has_transition && turns_same_run(run, &op->head.run)) {
    *ret_changed = false;
    return 0;
  }
  int code = save_messages(op, stored, error);
  if (!code) code = save_content(op, stored, error);
  if (!code && has_transition) code = save_transition(op, stored, event, abort, error);
  op->head.run = *run;
  *ret_changed = true;
  return code;
}

/* SPDX-License-Identifier: MIT
 */
#include "play.h"

#include <stdlib.h>

#include "compare.h"
#include "laws.h"
#include "table.h"

/* -- a session loaded, as session/stored_run.c does it ----------------------------------------- */

struct call {
  struct turns turns;
  struct message messages[MOST_MESSAGES + 1];
  struct tidings_span ids[MOST_MESSAGES];
  ptrdiff_t named[MOST_MESSAGES];
  struct system_id system;
  struct turns_input input;
};

static bool is_named(const struct move *move, size_t index) {
  for (size_t i = 0; i < move->name_count; i++) {
    if (move->names[i] == index) return true;
  }
  return false;
}

static int by_place(const void *a, const void *b) {
  const struct message *left = a, *right = b;
  if (left->place != right->place) return left->place < right->place ? -1 : 1;
  return left->n < right->n ? -1 : left->n > right->n;
}

static ptrdiff_t find(const struct call *call, uint64_t n) {
  for (size_t i = 0; i < call->turns.count; i++) {
    if (call->messages[i].n == n) return (ptrdiff_t)i;
  }
  return NOT_A_MESSAGE;
}

static void find_name(const struct world *world, struct call *call, uint8_t what, size_t at) {
  call->named[at] = NOT_A_MESSAGE;
  if (what < MOST_MESSAGES) {
    call->ids[at] = message_id(what);
    call->named[at] = find(call, (uint64_t)what + 1);
  } else if (what == NAME_UNKNOWN) {
    call->ids[at] = span_text("nobody");
  } else {
    uint64_t n = world->run.system_turns;
    if (what == NAME_OLD_SYSTEM) n = n > 1 ? n - 1 : 9; /* 9: none */
    call->system = system_turn_id(n ? n : 1);
    call->ids[at] = span_text(call->system.text);
  }
}

static void load(const struct world *world, const struct move *move, uint8_t row,
                 struct call *call) {
  call->turns = (struct turns){.run = world->run, .messages = call->messages};
  for (size_t i = 0; i < world->submitted; i++) {
    const struct message *message = &world->messages[i];
    bool alive = !message_is_over(message->state) || message->of_turn || message->orphaned;
    if (alive || is_named(move, i) || row & 1 << i) call->messages[call->turns.count++] = *message;
  }
  qsort(call->messages, call->turns.count, sizeof *call->messages, by_place);
  for (size_t i = 0; i < call->turns.count; i++)
    call->messages[i].changed = call->messages[i].fresh; /* between step and look */
  for (size_t i = 0; i < move->name_count; i++) find_name(world, call, move->names[i], i);
}

static void save(const struct call *call, struct world *world) {
  world->run = call->turns.run;
  for (size_t i = 0; i < call->turns.count; i++) {
    const struct message *message = &call->messages[i];
    world->messages[message->n - 1] = *message;
    world->messages[message->n - 1].named = false;
    if (message->n > world->submitted) world->submitted = message->n;
  }
}

/* -- one call of the machine ------------------------------------------------------------------- */

static bool same_stored(const struct message *a, const struct message *b) {
  return a->place == b->place && a->delivery == b->delivery && a->carriers == b->carriers &&
         a->stamp_ms == b->stamp_ms && a->state == b->state && a->steer == b->steer &&
         a->waited == b->waited && a->of_turn == b->of_turn && a->orphaned == b->orphaned;
}

static struct occurrence occurrence_of(const struct world *before, const struct world *after,
                                       int code) {
  struct occurrence occurrence = {.before = before, .after = after, .code = code};
  occurrence.moved_on =
      !turns_same_run(&before->run, &after->run) || before->submitted != after->submitted;
  for (size_t i = 0; i < after->submitted; i++) {
    bool same = i < before->submitted && same_stored(&before->messages[i], &after->messages[i]);
    if (!same) occurrence.moved_on = true;
    if (!same && !after->messages[i].changed) occurrence.unflagged |= (uint8_t)(1 << i);
  }
  return occurrence;
}

static struct turns_input input_of(const struct world *world, const struct setup *setup,
                                   enum turns_event event) {
  return (struct turns_input){.event = event,
                              .now_ms = world->now_ms,
                              .settings = &setup->settings,
                              .last_item = world->item == ITEM_NONE ? 0 : 1};
}

/* -- a move, while it is made ------------------------------------------------------------------ */

struct game {
  struct world *world;
  const struct setup *setup;
  const struct move *move;
  struct view_answer answer;
};

static const char *step(struct game *game, struct call *call) {
  struct world before = *game->world;
  game->answer.error = turns_step(&call->turns, &call->input, NULL);
  save(call, game->world);
  struct occurrence occurrence = occurrence_of(&before, game->world, game->answer.error);
  table_record(&before, game->move, call->input.event, game->answer.error, game->world,
               occurrence.moved_on);
  return laws_of_step(&occurrence);
}

/* Ends each event; the attached host takes a reply. */
static const char *look(struct game *game, bool answers, bool owned) {
  static const struct move nothing;
  const struct setup *setup = game->setup;
  struct world before = *game->world;
  struct call call = {.turns.count = 0};
  struct turns_result result;
  load(&before, &nothing, 0, &call);
  call.input = input_of(&before, setup, TURNS_LOOK);
  call.input.answers = answers;
  call.input.owned = owned;
  bool urgent = answers && before.item == ITEM_PENDING && turns_reacts_to_urgency(&before.run);
  if (urgent)
    call.input.urgency =
        (struct urgency){.urgent = setup->item_urgent, .asking = setup->item_asks, .most = 1};
  turns_look(&call.turns, &call.input, &result);
  game->answer.offer = result.offer;
  game->answer.abort = result.abort;
  game->answer.stop = result.stop;
  save(&call, game->world);
  struct occurrence occurrence = occurrence_of(&before, game->world, 0);
  return laws_of_step(&occurrence);
}

/* -- messages are taken alike from everybody --------------------------------------------------- */

static const char *same_from_another(const struct world *world, const struct move *move,
                                     const struct call *call, int code) {
  struct call other = {.turns.count = 0};
  load(world, move, 0, &other);
  other.input = call->input;
  other.input.named = other.named;
  other.input.ids = other.ids;
  other.input.answers = !call->input.answers;
  int other_code = turns_step(&other.turns, &other.input, NULL);
  bool same = code == other_code && other.turns.count == call->turns.count &&
              turns_same_run(&other.turns.run, &call->turns.run);
  for (size_t i = 0; same && i < call->turns.count; i++)
    same = other.messages[i].n == call->messages[i].n &&
           same_stored(&other.messages[i], &call->messages[i]);
  return same ? NULL : "no source of messages is treated differently";
}

/* -- moves ------------------------------------------------------------------------------------- */

static const char *play_event(struct game *game) {
  struct world *world = game->world, before = *world;
  const struct move *move = game->move;
  struct call call = {.turns.count = 0};
  bool closes = move->event == TURNS_CLOSED, message = event_is_of_messages(move->event);
  load(world, move, 0, &call);
  call.input = input_of(world, game->setup, move->event);
  call.input.answers = !move->foreign && !closes;
  call.input.owned = move->foreign || closes ? world->alive : true;
  call.input.ids = call.ids;
  call.input.named = call.named;
  call.input.named_count = message && move->name_count ? 1 : move->name_count;
  call.input.id = message_id(world->submitted < MOST_MESSAGES ? world->submitted : 0);
  call.input.steer = move->steer;
  call.input.resume = move->resume;
  call.input.to_end = move->name_count < 2;
  call.input.before_id = call.ids[1];
  call.input.before = move->name_count < 2 ? NOT_A_MESSAGE : call.named[1];
  if (closes) {
    world->item = ITEM_NONE;
    memset(world->carriers, 0, sizeof world->carriers);
  }
  const char *broken = step(game, &call);
  int code = game->answer.error;
  if (!broken && message) broken = same_from_another(&before, move, &call, code);
  if (closes) world->alive = world->known = false;
  return broken || code ? broken : look(game, call.input.answers, call.input.owned);
}

static uint8_t mask_of_names(const struct world *world, const struct move *move) {
  uint8_t mask = 0;
  for (size_t i = 0; i < move->name_count; i++) {
    if (move->names[i] < world->submitted) mask |= (uint8_t)(1 << move->names[i]);
  }
  return mask;
}

/* The host's state after the hook's reply: a lease, if anything is in it. */
static void hand_out(struct game *game, size_t at, bool names, uint8_t carried, uint8_t sent) {
  struct world *world = game->world;
  bool item = world->item == ITEM_PENDING;
  if (item) world->run.newest_asking = 0; /* as the hooks do: what stays pending may ask again */
  if (game->setup->fires_at_once) {
    if (item) world->item = ITEM_NONE;
  } else if (item || carried || names) {
    world->carriers[at] = (struct carrier){.out = true, .item = item, .row = carried, .sent = sent};
    if (item) world->item = ITEM_LEASED;
  }
}

static const char *play_hook(struct game *game) {
  struct world *world = game->world, before = *world;
  const struct move *move = game->move;
  size_t at = world->carriers[0].out ? 1 : 0;
  bool chat = move->kind == MOVE_CHAT_REQUEST, reacts = turns_reacts_to_tool_result(&world->run);
  struct call call = {.turns.count = 0};
  uint8_t carried = 0;
  const char *broken = NULL;
  load(world, move, 0, &call);
  call.input = input_of(world, game->setup, chat ? TURNS_CHAT_REQUEST : TURNS_TOOL_RESULT);
  call.input.ids = call.ids;
  call.input.named = call.named;
  call.input.named_count = move->name_count;
  call.input.delivery = at + 1;
  call.input.steered_most = SIZE_MAX;
  call.input.owned = true;
  call.input.fires_at_once = game->setup->fires_at_once;
  if (!chat || move->name_count) broken = step(game, &call);
  if (!broken && !chat && !reacts && !turns_same_run(&before.run, &world->run))
    broken = "turns_reacts_to_tool_result knows when nothing would change";
  if (broken || game->answer.error) return broken;
  for (size_t i = 0; i < call.turns.count && (chat ? move->name_count > 0 : reacts); i++) {
    if (call.messages[i].delivery == at + 1) carried |= (uint8_t)(1 << (call.messages[i].n - 1));
  }
  hand_out(game, at, chat && move->name_count, carried,
           chat ? mask_of_names(&before, move) : carried);
  return NULL;
}

/* A carrier ends. */
static const char *end_carrier(struct game *game, size_t at, bool committed, bool owned,
                               bool answers) {
  static const struct move unnamed;
  struct world *world = game->world;
  struct carrier carrier = world->carriers[at];
  struct call call = {.turns.count = 0};
  size_t count = 0;
  load(world, &unnamed, carrier.row, &call);
  for (size_t i = 0; i < MOST_MESSAGES; i++) {
    if (carrier.row & 1 << i) call.named[count++] = find(&call, i + 1);
  }
  call.input = input_of(world, game->setup, committed ? TURNS_COMMITTED : TURNS_ROLLED_BACK);
  call.input.named = call.named;
  call.input.named_count = count;
  call.input.delivery = at + 1;
  call.input.owned = owned;
  call.input.answers = answers;
  world->carriers[at] = (struct carrier){0};
  if (carrier.item) world->item = committed ? ITEM_NONE : ITEM_PENDING;
  const char *broken = step(game, &call);
  for (size_t i = 0; !broken && committed && i < world->submitted; i++) {
    if (carrier.sent & 1 << i && !message_is_over(world->messages[i].state))
      broken = "what a committed carrier had is over";
  }
  return broken;
}

static const char *play_settle(struct game *game) {
  const struct move *move = game->move;
  const char *broken = end_carrier(game, move->carrier, move->committed, true, move->listens);
  return broken || move->committed ? broken : look(game, move->listens, true);
}

/* A host attaches, or the attached host names the deliveries that it has. A refused event does
 * nothing. */
static const char *play_attach(struct game *game) {
  static const struct move unnamed, opened = {.event = TURNS_OPENED},
                                    rewound = {.event = TURNS_REWOUND};
  struct world *world = game->world, before = *world;
  bool rewinds = game->move->kind == MOVE_REWIND, opens = game->move->kind == MOVE_OPEN || rewinds,
       recovers = world->known && (game->move->other_host || !world->alive);
  const char *broken = NULL;
  for (size_t i = 0; !broken && i < MOST_CARRIERS; i++) {
    if (world->carriers[i].out)
      broken = end_carrier(game, i, opens && game->move->carrier & 1 << i, false, false);
  }
  if (!broken && recovers) {
    struct call call = {.turns.count = 0};
    load(world, &unnamed, 0, &call);
    call.input = input_of(world, game->setup, TURNS_RECOVERED);
    broken = step(game, &call);
  }
  world->alive = world->known = true;
  if (broken || !opens) return broken;
  game->move = rewinds ? &rewound : &opened;
  broken = play_event(game);
  if (game->answer.error) *world = before;
  return broken;
}

const char *play(struct world *world, const struct setup *setup, const struct move *move) {
  struct game game = {.world = world, .setup = setup, .move = move};
  struct world before = *world;
  const char *broken = NULL;
  switch (move->kind) {
  case MOVE_EVENT: broken = play_event(&game); break;
  case MOVE_TOOL_RESULT:
  case MOVE_CHAT_REQUEST: broken = play_hook(&game); break;
  case MOVE_SETTLE: broken = play_settle(&game); break;
  case MOVE_ATTACH:
  case MOVE_OPEN:
  case MOVE_REWIND: broken = play_attach(&game); break;
  case MOVE_CRASH: world->alive = false; break;
  case MOVE_ARRIVE: world->item = ITEM_PENDING; break;
  case MOVE_VANISH: world->item = ITEM_NONE; break;
  case MOVE_FORWARD: world->now_ms += TICK_MS; break;
  case MOVE_BACK: world->now_ms -= TICK_MS; break;
  }
  if (!broken) broken = laws_of_state(world, setup);
  return broken ? broken : compare_with_oracle(&before, world, setup, move, &game.answer);
}

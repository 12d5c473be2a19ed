/* SPDX-License-Identifier: MIT
 *
 * feed/verb_feed.c: `tidings feed`: makes notifications of another program's JSON lines, by a
 * recipe (recipes/recipe.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/feed/feed.h"
#include "command/input.h"
#include "command/interrupt.h"
#include "command/mailbox_retry.h"
#include "command/recipes.h"
#include "command/session.h"
#include "common/clock.h"

/* -- pace -------------------------------------------------------------------------------------- */

struct pace {
  uint64_t per_minute; /* 0: no limit */
  int64_t begun_ms;    /* when the current minute began */
  uint64_t passed, held;
};

enum { PACE_MINUTE_MS = 60000 };

static bool is_over(const struct pace *pace, int64_t now_ms) {
  return now_ms < pace->begun_ms || now_ms - pace->begun_ms >= PACE_MINUTE_MS;
}

/* May one more notification be passed on? If not, it is counted as held back, and the minute then
 * lasts until pace_over reports the count. */
static bool pace_take(struct pace *pace, int64_t now_ms) {
  if (!pace->per_minute) return true;
  if (!pace->held && is_over(pace, now_ms)) {
    pace->begun_ms = now_ms;
    pace->passed = 0;
  }
  if (pace->passed < pace->per_minute) {
    pace->passed++;
    return true;
  }
  pace->held++;
  return false;
}

/* Does not count a known line: a source that is started again may repeat any number of lines. */
static void pace_give_back(struct pace *pace) {
  if (pace->passed) pace->passed--;
}

/* Returns how many were held back if the minute has ended, or with `last` also before, and resets
 * the count; 0: there is nothing to report. */
static uint64_t pace_over(struct pace *pace, int64_t now_ms, bool last) {
  uint64_t held = pace->held;
  if (!held || (!last && !is_over(pace, now_ms))) return 0;
  pace->held = 0;
  pace->passed = 0;
  pace->begun_ms = now_ms;
  return held;
}

/* Returns how long it takes until there may be something to report; -1: there will be nothing. */
static int pace_wait_ms(const struct pace *pace, int64_t now_ms) {
  if (!pace->held) return -1;
  return is_over(pace, now_ms) ? 0 : (int)(PACE_MINUTE_MS - (now_ms - pace->begun_ms));
}

enum { OPTION_RECIPE = CLI_LONG_ONLY, OPTION_PER_MINUTE, OPTION_TRY };
enum { PER_MINUTE = 30, PIPE_BYTES = 1 << 16 };

struct feeding {
  const struct cli *cli;
  const char *recipe_name;
  char *source; /* of ids */
  struct recipe *recipe;
  struct destination destination;
  struct input input;
  struct pace pace;
  bool tries; /* only print */
  uint64_t lines, pushed, known, ignored, bad;
  struct mailbox_retry retry;
};

/* -- pushing ----------------------------------------------------------------------------------- */

/* Pushes. If the store cannot take it now, this tries again and reads nothing until it can, so
 * nothing is lost. If it has an id, an attempt that was stored after all has no second effect. */
static int send(struct feeding *feeding, const struct recipe_push *push) {
  struct tidings_error error = {.size = sizeof error};
  const struct hostkit_notification notification = recipes_notification(
      push, span_text(feeding->destination.session), span_text(feeding->source));
  enum recipes_outcome outcome = RECIPES_STORED;
  int32_t code =
      destination_push(feeding->cli, &feeding->destination, push, &notification, &outcome, &error);
  if (!code) {
    feeding->known += outcome == RECIPES_KNOWN;
    feeding->ignored += outcome == RECIPES_OVERTAKEN;
    feeding->pushed += outcome == RECIPES_STORED;
    if (outcome == RECIPES_STORED) mailbox_retry_want(&feeding->retry);
  } else if (!recipes_is_wrong(code)) {
    (void)cli_fail_with(feeding->cli, code, &error);
  } else { /* the error is in this line only */
    feeding->bad++;
    cli_warn(feeding->cli, "line %llu became no notification: %s",
             (unsigned long long)feeding->lines, error.text);
    code = TIDINGS_OK;
  }
  return code ? EXIT_REFUSED : 0;
}

static int take_push(struct feeding *feeding, const struct recipe_push *push) {
  if (feeding->tries) {
    recipes_print(push);
    feeding->pushed++;
    return 0;
  }
  uint64_t before = feeding->pushed;
  bool now = push->withdraws || pace_take(&feeding->pace, clock_mono_ms());
  int code = now ? send(feeding, push) : 0;
  if (now && !push->withdraws && feeding->pushed == before) pace_give_back(&feeding->pace);
  return code;
}

static int say_held(struct feeding *feeding, bool last) {
  char text[160];
  uint64_t held = pace_over(&feeding->pace, clock_mono_ms(), last);
  if (!held) return 0;
  snprintf(text, sizeof text, "%llu more notifications of `%s` in the last minute are left out.",
           (unsigned long long)held, feeding->recipe_name);
  const struct recipe_push push = {
      .kind = span_text("feed.held"), .level = span_text("warning"), .text = span_text(text)};
  return send(feeding, &push);
}

/* -- lines ------------------------------------------------------------------------------------- */

static int take_document(struct feeding *feeding, const struct json *root, struct arena *arena) {
  const struct recipe_document document = {.root = root};
  struct recipe_push *pushes = NULL;
  size_t count = 0;
  bool fits = false;
  int code = recipe_apply(feeding->recipe, &document, arena, &pushes, &count, &fits);
  if (code) return cli_fail(feeding->cli, "out of memory");
  feeding->ignored += !count;
  for (size_t i = 0; !code && i < count; i++) code = take_push(feeding, &pushes[i]);
  return code;
}

/* A line that is no JSON is counted and skipped. */
static int take_line(struct feeding *feeding, struct tidings_span line) {
  static const struct json_rules rules = {
      .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *root = NULL;
  int code = 0;
  feeding->lines++;
  while (line.len && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' ')) line.len--;
  if (!line.len) return 0;
  if (json_read_by(&rules, line, "a line", &arena, &root, &error)) {
    if (!feeding->bad++) cli_warn(feeding->cli, "%s; such lines are skipped", error.text);
  } else code = take_document(feeding, root, &arena);
  arena_free(&arena);
  return code;
}

static int take_lines(struct feeding *feeding) {
  struct tidings_span line;
  bool too_long = false;
  int code = 0;
  while (!code && !interrupt_came() && input_next(&feeding->input, &line, &too_long)) {
    if (!too_long) code = take_line(feeding, line);
    else {
      feeding->lines++;
      if (!feeding->bad++)
        cli_warn(feeding->cli, "a line has more than %d bytes; such lines are skipped",
                 LONGEST_LINE);
    }
  }
  return code;
}

static void forward(struct feeding *feeding, bool last) {
  mailbox_retry_try(feeding->cli, &feeding->destination, &feeding->retry, last);
}

/* Reads some input. *ret_over: it has ended, or a signal came. */
static int read_some(struct feeding *feeding, bool *ret_over) {
  static char bytes[PIPE_BYTES];
  struct pollfd ready_input = {.fd = STDIN_FILENO, .events = POLLIN};
  int pace_ms = pace_wait_ms(&feeding->pace, clock_mono_ms());
  int ready = interrupt_poll(&ready_input, 1, mailbox_retry_wait_ms(&feeding->retry, pace_ms));
  *ret_over = interrupt_seen() != 0;
  if (ready <= 0) {
    int code = *ret_over ? 0 : say_held(feeding, false);
    if (!code && !*ret_over) forward(feeding, false);
    return code;
  }
  ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (got < 0) return cli_fail(feeding->cli, "cannot read stdin: %s", strerror(errno));
  if (!input_add(&feeding->input, bytes, (size_t)got))
    return cli_fail(feeding->cli, "out of memory");
  int code = take_lines(feeding);
  if (!code && !got) code = take_line(feeding, input_rest(&feeding->input));
  if (!code) code = say_held(feeding, false);
  if (!code) forward(feeding, false);
  *ret_over = !got || interrupt_seen();
  return code;
}

static void print_counts(const struct feeding *feeding) {
  fprintf(stderr, "tidings feed: %llu pushed, %llu known, %llu not of interest, %llu bad lines\n",
          (unsigned long long)feeding->pushed, (unsigned long long)feeding->known,
          (unsigned long long)feeding->ignored, (unsigned long long)feeding->bad);
}

/* -- the verb ---------------------------------------------------------------------------------- */

/* Opens the store, so that repeated lines are recognized if a source is started again within four
 * days. */
static int open_feed(struct feeding *feeding) {
  struct tidings_error error = {.size = sizeof error};
  int32_t refused = recipes_find(feeding->recipe_name, &feeding->recipe, &error);
  if (refused) return cli_fail(feeding->cli, "--recipe: %s", error.text);
  feeding->source = recipes_source(feeding->recipe_name);
  if (!feeding->source) return cli_fail(feeding->cli, "out of memory");
  int code = feeding->tries ? 0 : destination_open(feeding->cli, &feeding->destination);
  if (code || feeding->tries) return code;
  refused = recipes_remember_ids(feeding->destination.kit, &error);
  return refused ? cli_fail_with(feeding->cli, refused, &error) : 0;
}

static int feed(struct feeding *feeding) {
  bool over = false;
  int code = open_feed(feeding);
  if (!code) interrupt_begin();
  while (!code && !over) code = read_some(feeding, &over);
  if (!code && !feeding->tries) code = say_held(feeding, true);
  forward(feeding, true); /* after a failure, too: what was stored before must not wait */
  if (feeding->recipe) print_counts(feeding);
  recipe_free(feeding->recipe);
  free(feeding->source);
  input_free(&feeding->input);
  destination_close(&feeding->destination);
  return code || !interrupt_seen() ? code : interrupt_exit_code();
}

static int feed_verb(struct cli *cli) {
  struct feeding feeding = {.cli = cli, .pace = {.per_minute = PER_MINUTE}};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_RECIPE: feeding.recipe_name = cli->value; break;
    case OPTION_TRY: feeding.tries = true; break;
    case OPTION_PER_MINUTE:
      if (cli_number(cli->value, 0, 100000, &feeding.pace.per_minute))
        return cli_usage(cli, "--per-minute: '%s' is not a number from 0 to 100000", cli->value);
      break;
    default: return cli->exit_code;
    }
  }
  if (cli->print_session) return session_print(cli);
  if (!feeding.recipe_name) return cli_usage(cli, "--recipe is missing");
  int code = cli_take_words(cli, 0, 0, "");
  return code ? code : feed(&feeding);
}

const struct cli_verb verb_feed = {
    .name = "feed",
    .usage = "[OPTION]... --recipe RECIPE",
    .summary = "make notifications of the JSON lines that another program prints",
    .help =
        "Reads JSON from stdin, one value a line, and pushes what the recipe makes of it. Lines "
        "that are no JSON, or that no rule of the recipe fits, are counted and skipped. It ends "
        "with its input.\n\n"
        "RECIPE is a file, or one of those that tidings has: journald (journalctl -o json -f), "
        "docker (docker events --format json), kubernetes (kubectl get events -w -o json | jq "
        "-c), otel (the collector's file exporter), any (an object with message, text or "
        "title). docs/reach.md describes the format.\n\n"
        "What a recipe gives an id is stored once within four days, so the same lines can be "
        "fed again. If the store cannot take a notification now, nothing more is read until it "
        "can.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_RECIPE,
             .name = "recipe",
             .argument = "RECIPE",
             .completion = COMPLETE_FILE,
             .help = "How lines become notifications: a file, or the name of a recipe that tidings "
                     "has."},
            {.key = OPTION_PER_MINUTE,
             .name = "per-minute",
             .argument = "N",
             .help = "Pass on at most N notifications a minute; one more says how many are left "
                     "out. 30 if not given; 0: no limit."},
            {.key = OPTION_TRY,
             .name = "try",
             .help = "Only print what would be pushed; no store is needed."},
            {.name = NULL},
        },
    .run = feed_verb,
    .examples =
        (const struct cli_example[]){
            {"journalctl -o json -f | tidings feed --recipe journald --to box:ops",
             "Notify whoever has joined the box ops of errors in the journal."},
            {"docker events --format json | tidings feed --recipe docker --to folder:.",
             "Notify the agent that works here of containers that fail."},
            {NULL, NULL}},
};

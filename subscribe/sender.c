/* SPDX-License-Identifier: MIT
 */
#include "subscribe/sender.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/recipes.h"
#include "common/fnv.h"

enum { LONGEST_ID = 200 };

int sender_open(const struct cli *cli, const char *recipe, uint32_t level, struct sender *sender) {
  struct tidings_error error = {.size = sizeof error};
  sender->cli = cli;
  sender->level = level;
  mailbox_retry_want(&sender->retry); /* a process that was killed may have left something in
                                         mailboxes */
  int32_t refused = recipes_find(recipe, &sender->recipe, &error);
  if (refused) return cli_fail(cli, "--recipe: %s", error.text);
  int code = destination_open(cli, &sender->destination);
  if (code) return code;
  refused = recipes_remember_ids(sender->destination.kit, &error);
  return refused ? cli_fail_with(cli, refused, &error) : 0;
}

void sender_close(struct sender *sender) {
  recipe_free(sender->recipe);
  destination_close(&sender->destination);
  free(sender->source);
}

/* -- storing ----------------------------------------------------------------------------------- */

/* Stores a push. A push that the plugin refuses is dropped, because it would always be refused. */
static int store(struct sender *sender, const struct recipe_push *push) {
  struct tidings_error error = {.size = sizeof error};
  enum recipes_outcome outcome = RECIPES_STORED;
  struct hostkit_notification notification =
      recipes_notification(push, span_text(sender->destination.session), span_text(sender->source));
  if (notification.level > sender->level) notification.level = sender->level;
  int32_t code =
      destination_push(sender->cli, &sender->destination, push, &notification, &outcome, &error);
  if (code && !recipes_is_wrong(code)) return cli_fail_with(sender->cli, code, &error);
  if (code) cli_warn(sender->cli, "an event became no notification: %s", error.text);
  sender->refused += code != 0;
  sender->known += !code && outcome == RECIPES_KNOWN;
  sender->ignored += !code && outcome == RECIPES_OVERTAKEN;
  sender->pushed += !code && outcome == RECIPES_STORED;
  if (!code && outcome == RECIPES_STORED) mailbox_retry_want(&sender->retry);
  return 0;
}

static struct tidings_span choose_id(const struct recipe_push *push, struct tidings_span id,
                                     size_t number, struct outputs *texts) {
  struct tidings_span chosen = push->id.len ? push->id : id;
  if (!push->id.len && id.len && number)
    chosen = outputs_format(texts, "%.*s/%zu", SPAN_FORMAT(id), number);
  if (chosen.len > LONGEST_ID)
    chosen = outputs_format(texts, "fnv:%016llx", (unsigned long long)fnv_span(FNV_START, chosen));
  return chosen;
}

static int store_all(struct sender *sender, const struct output *output,
                     const struct recipe_push *pushes, size_t count) {
  struct outputs texts = {.failed = false};
  int code = 0;
  for (size_t i = 0; !code && i < count; i++) {
    struct recipe_push push = pushes[i];
    push.id = choose_id(&push, output->text, i, &texts);
    code = texts.failed ? cli_fail(sender->cli, "out of memory") : store(sender, &push);
  }
  outputs_free(&texts);
  return code;
}

int sender_push(struct sender *sender, const struct output *output) {
  const struct recipe_header headers[] = {{span_text("event"), output->event},
                                          {span_text("id"), output->text}};
  const struct recipe_document document = {
      .root = output->document, .headers = headers, .header_count = output->event.len ? 2 : 0};
  struct recipe_push *pushes = NULL;
  struct arena arena = ARENA_EMPTY;
  size_t count = 0;
  bool fits = false;
  int code = recipe_apply(sender->recipe, &document, &arena, &pushes, &count, &fits);
  sender->ignored += !code && !count;
  code = code ? cli_fail(sender->cli, "out of memory") : store_all(sender, output, pushes, count);
  arena_free(&arena);
  return code;
}

int sender_notice(struct sender *sender, const struct output *output) {
  const struct recipe_push push = {.kind = span_text(output->kind_name),
                                   .level = span_text("warning"),
                                   .text = output->text,
                                   .id = output->notice};
  return store(sender, &push);
}

/* -- the session of the folder ----------------------------------------------------------------- */

void sender_forward(struct sender *sender, bool last) {
  mailbox_retry_try(sender->cli, &sender->destination, &sender->retry, last);
}

void sender_print_counts(const struct sender *sender) {
  cli_warn(sender->cli, "%llu pushed, %llu known, %llu not of interest, %llu refused",
           (unsigned long long)sender->pushed, (unsigned long long)sender->known,
           (unsigned long long)sender->ignored, (unsigned long long)sender->refused);
}

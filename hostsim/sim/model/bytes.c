/* SPDX-License-Identifier: MIT
 *
 * sim/model/bytes.c: counts the bytes of a reply's texts: the words of each format, as in the
 * documents, and the texts of acts. The bytes that escaping adds are in a table; they are not
 * computed.
 */
#include "sim/model/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tidings/abi.h>

/* The place of a text decides which of its characters are escaped. */
enum where { IN_MARKDOWN, IN_XML, IN_PLAIN, IN_JSON };
enum {
  EMPTY_LINES = 4
}; /* a text with empty lines at its ends: they count only after a first line */

struct block {
  const struct model *model;
  const struct sim_settings *settings;
  const int *items;
  unsigned count, waiting;
  bool bare, append;
};

#define HOST "the agent host"
#define NOT_AGAIN "NOT be delivered again.\n"

__attribute__((format(printf, 1, 2))) static uint32_t length(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  return len > 0 ? (uint32_t)len : 0;
}

static uint32_t text_bytes(const char *text) { return (uint32_t)strlen(text); }

/* -- texts ------------------------------------------------------------------------------------- */

void bytes_age(const struct model *model, const struct sim_settings *settings, int item,
               char age[NAME_SIZE]) {
  int64_t passed = model->now_ms - model->items[item].time_ms, minutes = passed / 60000;
  *age = '\0';
  if (!settings->age_after_ms || passed <= settings->age_after_ms) return;
  if (minutes < 1) (void)snprintf(age, NAME_SIZE, "%" PRId64 " s ago", passed / 1000);
  else if (minutes < 120) (void)snprintf(age, NAME_SIZE, "%" PRId64 " min ago", minutes);
  else (void)snprintf(age, NAME_SIZE, "%" PRId64 " h ago", minutes / 60);
}

void bytes_message(const struct model *model, int item, char message[2 * TEXT_SIZE]) {
  char text[TEXT_SIZE];
  const struct model_item *of = &model->items[item];
  act_text_of_note(of->text, text);
  (void)snprintf(message, (size_t)2 * TEXT_SIZE, "%s%s",
                 of->note == NOTE_SUBAGENT ? "[Subagent 'scout' finished]\n" : "", text);
}

/* Counts the text, the escapes of characters that look like structure, and two blanks before each
 * further line. */
static uint32_t item_bytes(const struct block *block, int item, enum where where) {
  static const uint8_t marks[][NOTE_FORMS] = {[IN_MARKDOWN] = {0, 4, 15, 13, 2},
                                              [IN_XML] = {0, 4, 21, 23, 2},
                                              [IN_PLAIN] = {0, 4, 15, 13, 2},
                                              [IN_JSON] = {0, 3, 23, 27, 9}};
  char message[2 * TEXT_SIZE], age[NAME_SIZE];
  const struct model_item *of = &block->model->items[item];
  unsigned form = of->text % NOTE_FORMS;
  bytes_message(block->model, item, message);
  bytes_age(block->model, block->settings, item, age);
  uint32_t bytes = text_bytes(message) + marks[where][form];
  if (of->note == NOTE_SUBAGENT) bytes += where == IN_JSON ? 1 : form == EMPTY_LINES ? 4 : 2;
  return bytes + (*age && where != IN_JSON ? length(" (%s)", age) : 0);
}

static uint32_t pending_bytes(unsigned waiting) {
  if (waiting == 0) return 0;
  return length("(%u more notification%s pending)\n", waiting, waiting == 1 ? "" : "s");
}

static const char *level_of(const struct block *block, unsigned i) {
  return act_level_names[block->model->items[block->items[i]].level];
}

/* Counts "[error] "; lines of level info have no such mark. */
static uint32_t mark_bytes(const struct block *block, unsigned i) {
  return block->model->items[block->items[i]].level == TIDINGS_LEVEL_INFO
             ? 0
             : length("[%s] ", level_of(block, i));
}

static const struct note_kind *kind_of_item(const struct block *block, unsigned i) {
  return &act_note_kinds[block->model->items[block->items[i]].note];
}

/* Counts "[error ci] " or "[ci] ". A line in which the plugin's own sentence names the subject has
 * no source. */
static uint32_t named_bytes(const struct block *block, unsigned i) {
  const char *source = kind_of_item(block, i)->source;
  if (block->model->items[block->items[i]].note == NOTE_SUBAGENT) return mark_bytes(block, i);
  return mark_bytes(block, i) ? length("[%s %s] ", level_of(block, i), source)
                              : length("[%s] ", source);
}

/* -- formats ----------------------------------------------------------------------------------- */

static uint32_t list_bytes(const struct block *block, enum where where) {
  uint32_t bytes = pending_bytes(block->waiting);
  for (unsigned i = 0; i < block->count; i++)
    bytes += text_bytes("- \n") + item_bytes(block, block->items[i], where);
  return bytes;
}

static uint32_t headings_bytes(const struct block *block) {
  static const char *const titles[] = {"Info:", "Warning:", "Error:", "Critical:"};
  bool has[4] = {false};
  uint32_t bytes = 0;
  for (unsigned i = 0; i < block->count; i++)
    has[block->model->items[block->items[i]].level] = true;
  for (unsigned level = 0; level < 4; level++)
    if (has[level]) bytes += length(block->bare ? "%s\n" : "\n**%s**\n", titles[level]);
  return bytes;
}

static uint32_t grouped_bytes(const struct block *block, const char *preamble) {
  return text_bytes("---\n**System Notifications**\n") + (block->bare ? 0 : text_bytes(preamble)) +
         headings_bytes(block) + list_bytes(block, IN_MARKDOWN) + text_bytes("---");
}

static uint32_t markdown_bytes(const struct block *block) {
  return grouped_bytes(
      block, block->append
                 ? "\nThese are automated system messages from " HOST ", unrelated to the text\n"
                   "above. They are delivered in this message to make you aware of them. You can\n"
                   "ignore irrelevant notifications — they will " NOT_AGAIN
                 : "\nThese are automated system messages from " HOST
                   ", unrelated to the response which\n"
                   "follows below. They are delivered in this message to make you aware of them. "
                   "You\ncan ignore irrelevant notifications — they will " NOT_AGAIN);
}

static uint32_t beside_bytes(const struct block *block) {
  return grouped_bytes(block, "\nThese are automated system messages from " HOST
                              ", not from the user. They are\n"
                              "delivered to make you aware of them. You can ignore irrelevant "
                              "notifications —\nthey will " NOT_AGAIN);
}

static uint32_t flat_bytes(const struct block *block) {
  static const char after[] =
      "\nThese are automated system messages from " HOST ", unrelated to the text\n"
      "above. They are delivered in this message to make you aware of them. You can\n"
      "ignore irrelevant notifications — they will " NOT_AGAIN "\n";
  static const char before[] =
      "\nThese are automated system messages from " HOST ", unrelated to the response\n"
      "which follows below. They are delivered in this message to make you aware\n"
      "of them. You can ignore irrelevant notifications — they will NOT be\n"
      "delivered again.\n\n";
  return text_bytes("---\n**system notifications**\n---") +
         (block->bare ? 0 : text_bytes(block->append ? after : before)) +
         list_bytes(block, IN_MARKDOWN);
}

static uint32_t reminder_bytes(const struct block *block) {
  static const char preamble[] =
      "These are automated system messages from " HOST ", unrelated to the text beside them.\n"
      "You can ignore irrelevant notifications — they will " NOT_AGAIN "\n";
  uint32_t bytes = text_bytes("<system-reminder>\n</system-reminder>") +
                   (block->bare ? 0 : text_bytes(preamble)) + list_bytes(block, IN_XML);
  for (unsigned i = 0; i < block->count; i++) bytes += length("[%s] ", level_of(block, i));
  return bytes;
}

static uint32_t xml_bytes(const struct block *block) {
  uint32_t bytes = 0;
  for (unsigned i = 0; i < block->count; i++) {
    const struct note_kind *kind = kind_of_item(block, i);
    bytes += length("<notification source=\"%s\">\n\n</notification>", kind->source) +
             item_bytes(block, block->items[i], IN_XML);
    if (*kind->name) bytes += length(" name=\"%s\"", kind->name);
    if (mark_bytes(block, i)) bytes += length(" level=\"%s\"", level_of(block, i));
    if (i) bytes += text_bytes("\n\n");
  }
  if (block->waiting == 0) return bytes;
  return bytes + text_bytes("\n\n") + pending_bytes(block->waiting) - text_bytes("\n");
}

static uint32_t batch_bytes(const struct block *block) {
  uint32_t bytes = block->waiting
                       ? length("<notifications showing=\"%u\" total=\"%u\">\n</notifications>",
                                block->count, block->count + block->waiting)
                       : length("<notifications count=\"%u\">\n</notifications>", block->count);
  for (unsigned i = 0; i < block->count; i++) {
    bytes += length("[%s] ", kind_of_item(block, i)->source);
    if (block->model->items[block->items[i]].level == TIDINGS_LEVEL_CRITICAL)
      bytes += text_bytes("[critical] ");
  }
  return bytes + list_bytes(block, IN_XML);
}

static uint32_t json_bytes(const struct block *block) {
  uint32_t bytes = text_bytes("```json\n{\"system_notifications\": [\n]}\n```");
  if (block->waiting) bytes += length(", \"pending\": %u", block->waiting);
  for (unsigned i = 0; i < block->count; i++) {
    const struct note_kind *kind = kind_of_item(block, i);
    char age[NAME_SIZE];
    bytes_age(block->model, block->settings, block->items[i], age);
    bytes += length("  {\"source\": \"%s\", \"level\": \"%s\", \"message\": \"\"}\n", kind->source,
                    level_of(block, i)) +
             item_bytes(block, block->items[i], IN_JSON);
    if (*kind->name) bytes += length("\"name\": \"%s\", ", kind->name);
    if (*age) bytes += length("\"age\": \"%s\", ", age);
    if (i) bytes += text_bytes(",");
  }
  return bytes;
}

static uint32_t plain_bytes(const struct block *block) {
  uint32_t bytes =
      text_bytes("While you worked (not from the user):\n") + list_bytes(block, IN_PLAIN);
  for (unsigned i = 0; i < block->count; i++) bytes += named_bytes(block, i);
  return block->append ? bytes - text_bytes("\n") : bytes + text_bytes("---");
}

static uint32_t calls_bytes(const struct block *block) {
  uint32_t bytes = pending_bytes(block->waiting); /* this line begins with its line feed */
  for (unsigned i = 0; i < block->count; i++)
    bytes += mark_bytes(block, i) + item_bytes(block, block->items[i], IN_PLAIN);
  return bytes;
}

/* `joined`: an empty line separates the block from the content. */
static const struct format {
  const char *name;
  uint32_t (*bytes)(const struct block *block);
  bool has_preamble, joined;
} formats[] = {{"markdown", markdown_bytes, true, true},
               {"markdown-flat", flat_bytes, true, true},
               {"xml", xml_bytes, false, true},
               {"xml-batch", batch_bytes, false, true},
               {"json", json_bytes, false, true},
               {"system-reminder", reminder_bytes, true, true},
               {"openai", beside_bytes, true, false},
               {"anthropic", beside_bytes, true, false},
               {"synthetic-call", calls_bytes, false, false},
               {"plain", plain_bytes, false, true}};

static const struct format *format_of(const struct sim_settings *settings) {
  const struct format *format = formats;
  while (strcmp(format->name, act_looks[settings->look].format) != 0) format++;
  return format;
}

bool bytes_have_preamble(const struct sim_settings *settings) {
  return format_of(settings)->has_preamble;
}

uint32_t bytes_of_block(const struct model *model, const struct sim_settings *settings, bool bare,
                        const int *items, unsigned count, unsigned waiting) {
  const struct format *format = format_of(settings);
  const struct block block = {.model = model,
                              .settings = settings,
                              .items = items,
                              .count = count,
                              .waiting = waiting,
                              .bare = bare,
                              .append = act_looks[settings->look].append};
  if (count == 0) return 0;
  return format->bytes(&block) + (format->joined ? text_bytes("\n\n") : 0);
}

uint32_t bytes_of_steered(const struct sim_settings *settings, uint32_t serial) {
  static const uint8_t marks[MESSAGE_FORMS] = {0, 4};
  const char *format = act_looks[settings->look].format;
  char text[TEXT_SIZE];
  act_text_of_message(serial, text);
  uint32_t bytes = text_bytes(text) + marks[serial % MESSAGE_FORMS];
  if (strcmp(format, "openai") == 0) return bytes;
  if (strcmp(format, "anthropic") != 0) bytes += text_bytes("\n\n");
  return bytes + text_bytes("<system-reminder>\nThe user sent the following message:\n\n\n"
                            "Please address this message and continue with your tasks.\n"
                            "</system-reminder>");
}

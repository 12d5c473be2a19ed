/* SPDX-License-Identifier: MIT
 *
 * recipes/apply.c: applies a recipe to a document; see recipe.h.
 */
#include "common/error.h"
#include "recipes/rules.h"
#include "recipes/template.h"

/* -- when -------------------------------------------------------------------------------------- */

static bool fits_text(struct tidings_span wanted, struct tidings_span text) {
  bool begins = wanted.len && wanted.ptr[wanted.len - 1] == '*';
  if (!begins) return span_equal(wanted, text);
  size_t len = wanted.len - 1;
  return text.len >= len && span_equal(span_of(wanted.ptr, len), span_of(text.ptr, len));
}

static bool fits_value(const struct json *wanted, bool found, struct tidings_span text) {
  if (wanted->kind == JSON_IS_TRUE || wanted->kind == JSON_IS_FALSE)
    return found == (wanted->kind == JSON_IS_TRUE);
  if (!found) return false;
  if (wanted->kind == JSON_IS_STRING) return fits_text(wanted->text, text);
  for (const struct json *one = wanted->members; one; one = one->next) {
    if (fits_text(one->text, text)) return true;
  }
  return false;
}

/* Does the document fit `when`? NULL: every document fits. */
static bool fits(const struct json *when, const struct recipe_document *document,
                 bool *ret_failed) {
  bool all = true;
  for (const struct json *one = when ? when->members : NULL; all && one; one = one->next) {
    struct buffer text = BUFFER_EMPTY;
    bool found = pointer_write(document, one->key, &text);
    all = fits_value(one, found, buffer_view(&text));
    if (text.failed) *ret_failed = true;
    buffer_free(&text);
  }
  return all;
}

/* -- one notification -------------------------------------------------------------------------- */

/* Writes a template's text. If one of its places is not found: with `needed`, *ret_whole becomes
 * false; otherwise the text is empty. */
static int write_text(struct tidings_span text, const struct recipe_document *document, bool needed,
                      struct arena *arena, struct tidings_span *ret_text, bool *ret_whole) {
  struct buffer out = BUFFER_EMPTY;
  bool whole = true;
  template_write(text, document, &out, &whole);
  int code = out.failed ? -1 : 0;
  if (!code && (whole || !needed))
    code = arena_copy(arena, whole ? buffer_view(&out) : span_of(NULL, 0), ret_text);
  if (needed && !whole) *ret_whole = false;
  buffer_free(&out);
  return code;
}

static int find_level(const struct recipe_rule *rule, const struct recipe_document *document,
                      struct tidings_span *ret_level) {
  struct buffer value = BUFFER_EMPTY;
  *ret_level = rule->level;
  if (!rule->level_map) return 0;
  if (pointer_write(document, rule->level_from, &value)) {
    for (const struct json *one = rule->level_map->members; one; one = one->next) {
      if (span_equal(one->key, buffer_view(&value))) *ret_level = one->text;
    }
  }
  bool failed = value.failed;
  buffer_free(&value);
  return failed ? -1 : 0;
}

/* Makes a notification. *ret_whole false: the rule does not fit, because a value that its kind or
 * text names is missing, or the text is blank. */
static int make_push(const struct recipe_rule *rule, const struct recipe_document *document,
                     struct arena *arena, struct recipe_push *ret_push, bool *ret_whole) {
  struct recipe_push push = {.ttl_ms = rule->ttl_ms};
  bool ignored = true;
  *ret_whole = true;
  int failed = write_text(rule->kind, document, true, arena, &push.kind, ret_whole);
  if (!failed) failed = write_text(rule->text, document, true, arena, &push.text, ret_whole);
  if (!failed && template_is_blank(push.text)) *ret_whole = false;
  if (!failed) failed = write_text(rule->key, document, false, arena, &push.key, &ignored);
  if (!failed) failed = write_text(rule->id, document, false, arena, &push.id, &ignored);
  if (!failed) failed = write_text(rule->to, document, false, arena, &push.to, &ignored);
  if (!failed) failed = write_text(rule->order, document, false, arena, &push.order, &ignored);
  if (!failed) failed = find_level(rule, document, &push.level);
  if (!failed) *ret_push = push;
  return failed;
}

/* Makes a withdrawal instead of a notification: it takes back notifications with this kind's source
 * and this key. Its id differs from the id of the notification, so that a repetition of the
 * document is recognized. */
static int make_withdrawal(const struct recipe_rule *rule, const struct recipe_document *document,
                           struct arena *arena, struct recipe_push *ret_push, bool *ret_whole) {
  static const char mark[] = " withdrawn";
  struct recipe_push push = {.level = span_text("critical"), /* it takes back notifications of any
                                                                level */
                             .text = span_text("What has this key is taken back."),
                             .withdraws = true};
  struct buffer id = BUFFER_EMPTY;
  bool ignored = true;
  *ret_whole = true;
  int failed = write_text(rule->kind, document, true, arena, &push.kind, ret_whole);
  if (!failed) failed = write_text(rule->key, document, true, arena, &push.key, ret_whole);
  if (!failed) failed = write_text(rule->id, document, false, arena, &push.id, &ignored);
  if (!failed) failed = write_text(rule->to, document, false, arena, &push.to, &ignored);
  if (!failed) failed = write_text(rule->order, document, false, arena, &push.order, &ignored);
  if (!failed && push.id.len) {
    buffer_span(&id, push.id);
    buffer_text(&id, mark);
    failed = id.failed ? -1 : arena_copy(arena, buffer_view(&id), &push.id);
  }
  buffer_free(&id);
  if (!failed) *ret_push = push;
  return failed;
}

/* -- a rule ------------------------------------------------------------------------------------ */

struct applying {
  const struct recipe *recipe;
  size_t rule; /* the number of the rule that is tried */
  struct recipe_document document;
  struct arena *arena;
  struct recipe_push *pushes;
  size_t count, capacity;
  bool fits, failed;
};

static void add_push(struct applying *applying, const struct recipe_push *push) {
  if (applying->count == applying->capacity) {
    struct recipe_push *larger =
        arena_enlarge(applying->arena, applying->pushes, &applying->capacity, sizeof *larger);
    if (!larger) {
      applying->failed = true;
      return;
    }
    applying->pushes = larger;
  }
  applying->pushes[applying->count++] = *push;
}

/* *ret_fits: the rule fits the document or its element. */
static void apply_once(struct applying *applying, const struct recipe_rule *rule, bool *ret_fits) {
  struct recipe_push push;
  bool whole = true;
  *ret_fits = false;
  bool withdraws =
      rule->withdraw_when && fits(rule->withdraw_when, &applying->document, &applying->failed);
  bool only_withdraws = rule->withdraw_when && !rule->when && !rule->text.len;
  if (!withdraws && (only_withdraws || !fits(rule->when, &applying->document, &applying->failed)))
    return;
  int failed = 0;
  if (withdraws)
    failed = make_withdrawal(rule, &applying->document, applying->arena, &push, &whole);
  else if (rule->text.len)
    failed = make_push(rule, &applying->document, applying->arena, &push, &whole);
  if (failed) applying->failed = true;
  if (applying->failed || !whole) return;
  *ret_fits = applying->fits = true;
  if (withdraws || rule->text.len) add_push(applying, &push);
}

static void apply_to_element(void *context, const struct json *element) {
  struct applying *applying = context;
  const struct recipe *recipe = applying->recipe;
  struct tidings_span each = recipe->rules[applying->rule].each;
  bool fits_it = false;
  applying->document.element = element;
  for (size_t i = applying->rule; i < recipe->rule_count && !fits_it && !applying->failed; i++) {
    if (span_equal(recipe->rules[i].each, each)) apply_once(applying, &recipe->rules[i], &fits_it);
  }
}

static void apply_rule(struct applying *applying) {
  const struct recipe_rule *rule = &applying->recipe->rules[applying->rule];
  bool ignored = false;
  applying->document.element = NULL;
  if (!rule->each.len) apply_once(applying, rule, &ignored);
  else pointer_each(applying->document.root, rule->each, apply_to_element, applying);
}

int recipe_apply(const struct recipe *recipe, const struct recipe_document *document,
                 struct arena *arena, struct recipe_push **ret_pushes, size_t *ret_count,
                 bool *ret_fits) {
  struct applying applying = {.recipe = recipe, .document = *document, .arena = arena};
  for (; applying.rule < recipe->rule_count && !applying.fits && !applying.failed; applying.rule++)
    apply_rule(&applying);
  if (applying.failed) return TIDINGS_E_NOMEM;
  *ret_pushes = applying.pushes;
  *ret_count = applying.count;
  *ret_fits = applying.fits;
  return 0;
}

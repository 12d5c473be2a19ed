/* SPDX-License-Identifier: MIT
 *
 * agents/setup/json_scan.c: finds the values in a text. Strict about structure, so that a file that
 * its host could not read either is refused; lenient about comments and a comma behind the last
 * part, which some hosts allow.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/setup/json_text.h"

enum { DEEPEST = 64 };

struct scan {
  const char *text;
  size_t at, len;
  const char *problem; /* NULL: none yet */
};

static struct json_node *scan_value(struct scan *scan, int depth);

/* What is below a node; the node itself belongs to its holder. */
static void free_node(struct json_node *node) {
  for (size_t i = 0; node && i < node->part_count; i++) free_node(&node->parts[i]);
  if (node) free(node->parts);
}

/* The text ends with a NUL. */
static char look(const struct scan *scan) { return scan->text[scan->at]; }

static int fail(struct scan *scan, const char *problem) {
  if (!scan->problem) scan->problem = problem;
  return -1;
}

/* Blanks and comments. */
static void skip(struct scan *scan) {
  for (;;) {
    const char *rest = scan->text + scan->at;
    if (look(scan) && strchr(" \t\r\n", look(scan))) scan->at++;
    else if (strncmp(rest, "//", 2) == 0) scan->at += strcspn(rest, "\n");
    else if (strncmp(rest, "/*", 2) == 0) {
      const char *end = strstr(rest + 2, "*/");
      if (!end) {
        (void)fail(scan, "a comment without an end");
        return;
      }
      scan->at = (size_t)(end + 2 - scan->text);
    } else return;
  }
}

/* Behind a backslash: one of the letters that JSON knows, u with four digits. */
static bool escape_is_sound(const char *at) {
  if (*at != 'u') return *at && strchr("\"\\/bfnrt", *at);
  return strspn(at + 1, "0123456789abcdefABCDEF") >= 4;
}

static int scan_string(struct scan *scan) {
  if (look(scan) != '"') return fail(scan, "expected a string");
  for (scan->at++; look(scan) != '"'; scan->at++) {
    if (look(scan) == '\\' && scan->at + 1 < scan->len) {
      scan->at++;
      if (!escape_is_sound(scan->text + scan->at))
        return fail(scan, "a backslash with a letter that means nothing");
    }
    if (scan->at >= scan->len || look(scan) == '\n') return fail(scan, "a string without an end");
    if ((unsigned char)look(scan) < ' ') return fail(scan, "a control character in a string");
  }
  scan->at++;
  return 0;
}

static int scan_word(struct scan *scan) {
  size_t len = strspn(scan->text + scan->at,
                      "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  char *word = strndup(scan->text + scan->at, len);
  json_t *value = word ? json_loads(word, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL) : NULL;
  bool sound = value && !json_is_string(value);
  free(word);
  json_decref(value);
  if (!sound) return fail(scan, "expected a value");
  scan->at += len;
  return 0;
}

static int add_part(struct json_node *node, struct json_node part) {
  struct json_node *larger = realloc(node->parts, (node->part_count + 1) * sizeof *larger);
  if (!larger) return -1;
  node->parts = larger;
  node->parts[node->part_count++] = part;
  return 0;
}

static int scan_part(struct scan *scan, struct json_node *node, int depth) {
  size_t key_start = scan->at;
  if (node->kind == '{') {
    if (scan_string(scan)) return -1;
    skip(scan);
    if (look(scan) != ':') return fail(scan, "expected a colon");
    scan->at++;
    skip(scan);
  }
  size_t start = scan->at;
  struct json_node *value = scan_value(scan, depth + 1);
  if (!value) return -1;
  value->key_start = node->kind == '{' ? key_start : start;
  int failed = add_part(node, *value);
  if (failed) free_node(value);
  free(value);
  return failed ? fail(scan, "out of memory") : 0;
}

static int scan_parts(struct scan *scan, struct json_node *node, int depth) {
  char end = node->kind == '{' ? '}' : ']';
  if (depth > DEEPEST) return fail(scan, "too deep");
  scan->at++;
  for (skip(scan); look(scan) != end; skip(scan)) {
    if (scan_part(scan, node, depth)) return -1;
    skip(scan);
    if (look(scan) == ',') scan->at++;
    else if (look(scan) != end)
      return fail(scan, end == '}' ? "expected a comma or }" : "expected a comma or ]");
  }
  scan->at++;
  return 0;
}

static struct json_node *scan_value(struct scan *scan, int depth) {
  struct json_node *node = calloc(1, sizeof *node);
  if (!node) {
    (void)fail(scan, "out of memory");
    return NULL;
  }
  char first = look(scan);
  node->start = node->key_start = scan->at;
  node->kind = '0';
  if (first == '{' || first == '[' || first == '"') node->kind = first;
  int failed = node->kind == '"'   ? scan_string(scan)
               : node->kind == '0' ? scan_word(scan)
                                   : scan_parts(scan, node, depth);
  node->end = scan->at;
  if (!failed) return node;
  free_node(node);
  free(node);
  return NULL;
}

static char *problem_text(const struct scan *scan) {
  char *text = NULL;
  size_t line = 1;
  for (size_t i = 0; i < scan->at && i < scan->len; i++) line += scan->text[i] == '\n';
  return asprintf(&text, "line %zu: %s", line, scan->problem) < 0 ? NULL : text;
}

int json_text_read(const char *text, struct json_text *ret_json, char **ret_problem) {
  struct scan scan = {.text = text, .len = strlen(text)};
  struct json_node *root = NULL;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) scan.at = 3; /* a byte order mark */
  skip(&scan);
  if (!scan.problem && scan.at < scan.len) {
    root = scan_value(&scan, 0);
    if (root) skip(&scan);
    if (!scan.problem && scan.at < scan.len) (void)fail(&scan, "expected the end of the file");
  }
  char *copy = scan.problem ? NULL : strdup(text);
  if (!scan.problem && copy) {
    *ret_json = (struct json_text){.text = copy, .len = scan.len, .root = root};
    return 0;
  }
  *ret_problem = scan.problem ? problem_text(&scan) : NULL;
  free_node(root);
  free(root);
  return -1;
}

void json_text_finish(struct json_text *json) {
  free_node(json->root);
  free(json->root);
  free(json->text);
  *json = (struct json_text){.text = NULL};
}

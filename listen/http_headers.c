/* SPDX-License-Identifier: MIT
 */
#include "listen/http_headers.h"

#include <ctype.h>

#include "listen/judge.h"

struct collecting {
  struct http_headers *headers;
  struct recipe_header *rows;
};

static int hex_value(char c) {
  if (!isxdigit((unsigned char)c)) return -1;
  return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Decodes %XX in place. Other text stays. The code of a NUL stays too, because readers would stop
 * at a NUL. */
static size_t decode_percent(char *text, size_t len) {
  size_t to = 0;
  for (size_t at = 0; at < len; at++) {
    int high = at + 2 < len && text[at] == '%' ? hex_value(text[at + 1]) : -1;
    int low = high >= 0 ? hex_value(text[at + 2]) : -1;
    int code = low >= 0 ? high * 16 + low : 0;
    text[to] = text[at];
    if (code) text[to] = (char)(unsigned char)code;
    to++;
    if (code) at += 2;
  }
  return to;
}

static int copy_row(struct http_headers *headers, const char *name, const char *value,
                    struct recipe_header *row) {
  char *text = NULL;
  if (arena_copy(&headers->arena, span_text(name), &row->name) ||
      arena_copy(&headers->arena, span_text(value ? value : ""), &row->value))
    return -1;
  text = (char *)(uintptr_t)row->name.ptr;
  for (size_t i = 0; i < row->name.len; i++) text[i] = (char)tolower((unsigned char)text[i]);
  if (row->name.len > 3 && memcmp(text, "ce-", 3) == 0) {
    char *bytes = (char *)(uintptr_t)row->value.ptr;
    row->value.len = decode_percent(bytes, row->value.len);
    bytes[row->value.len] = '\0';
  }
  return 0;
}

/* Headers beyond the limit are only counted. */
static enum MHD_Result take_row(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value) {
  struct collecting *collecting = context;
  struct http_headers *headers = collecting->headers;
  (void)kind;
  headers->bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
  if (headers->count++ >= JUDGE_MOST_HEADERS) return MHD_YES;
  struct recipe_header *row = &collecting->rows[headers->document.header_count++];
  headers->failed |= copy_row(headers, name, value, row) != 0;
  return headers->failed ? MHD_NO : MHD_YES;
}

int http_headers_read(struct MHD_Connection *connection, struct http_headers *ret_headers) {
  struct collecting collecting = {.headers = ret_headers};
  *ret_headers = (struct http_headers){.count = 0};
  collecting.rows = arena_zalloc(&ret_headers->arena, JUDGE_MOST_HEADERS, sizeof *collecting.rows);
  if (!collecting.rows) return -1;
  ret_headers->document.headers = collecting.rows;
  (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, take_row, &collecting);
  return ret_headers->failed ? -1 : 0;
}

void http_headers_free(struct http_headers *headers) { arena_free(&headers->arena); }

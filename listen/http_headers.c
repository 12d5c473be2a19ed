/* SPDX-License-Identifier: MIT
 */
#include "listen/http_headers.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "listen/judge.h"
#include "listen/signature.h"

struct collecting {
  struct http_headers *headers;
  struct recipe_header *rows;
};

static int hex_value(char c) {
  if (!isxdigit((unsigned char)c)) return -1;
  return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

size_t http_headers_decode(char *text) {
  size_t to = 0, len = strlen(text);
  for (size_t at = 0; at < len; at++) {
    int high = at + 2 < len && text[at] == '%' ? hex_value(text[at + 1]) : -1;
    int low = high >= 0 ? hex_value(text[at + 2]) : -1;
    int code = low >= 0 ? high * 16 + low : 0;
    text[to] = text[at];
    if (code) text[to] = (char)(unsigned char)code;
    to++;
    if (code) at += 2;
  }
  text[to] = '\0';
  return to;
}

/* libmicrohttpd before 1.0 accepts any characters in names and values, and a proxy could read such
 * a line as another header. */
static bool is_well_formed(const char *name, const char *value) {
  static const char marks[] = "!#$%&'*+-.^_`|~";
  bool well = *name != '\0';
  for (; *name; name++) well &= isalnum((unsigned char)*name) || strchr(marks, *name);
  for (; *value; value++) well &= *value == '\t' || !iscntrl((unsigned char)*value);
  return well;
}

/* Could two readers use different headers of a name, or different codings? */
static bool is_ambiguous(const struct recipe_document *document) {
  static const char *const names[] = {"host", "content-length", "transfer-encoding"};
  const struct tidings_span coding = signature_header(document, names[2]);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    unsigned count = 0;
    for (size_t at = 0; at < document->header_count; at++)
      count += span_is(document->headers[at].name, names[i]);
    if (count > 1) return true;
  }
  return coding.ptr && strcasecmp(coding.ptr, "chunked") != 0;
}

static int copy_row(struct http_headers *headers, const char *name, const char *value,
                    struct recipe_header *row) {
  char *text = NULL;
  if (arena_copy(&headers->arena, span_text(name), &row->name) ||
      arena_copy(&headers->arena, span_text(value ? value : ""), &row->value))
    return -1;
  text = (char *)(uintptr_t)row->name.ptr;
  for (size_t i = 0; i < row->name.len; i++) text[i] = (char)tolower((unsigned char)text[i]);
  if (row->name.len > 3 && memcmp(text, "ce-", 3) == 0)
    row->value.len = http_headers_decode((char *)(uintptr_t)row->value.ptr);
  return 0;
}

/* Headers beyond the limit are only counted. */
static enum MHD_Result take_row(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value) {
  struct collecting *collecting = context;
  struct http_headers *headers = collecting->headers;
  (void)kind;
  headers->bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
  headers->malformed |= !is_well_formed(name, value ? value : "");
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
  ret_headers->malformed |= is_ambiguous(&ret_headers->document);
  return ret_headers->failed ? -1 : 0;
}

void http_headers_free(struct http_headers *headers) { arena_free(&headers->arena); }

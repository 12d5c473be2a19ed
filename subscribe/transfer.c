/* SPDX-License-Identifier: MIT
 */
#include "subscribe/transfer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "command/secret_file.h"
#include "subscribe/retry.h"

enum { LARGEST_ANSWER = 16 << 20, CONNECT_MS = 30000, LONGEST_SESSION = 1024 };

/* -- the request ------------------------------------------------------------------------------- */

static bool add_header(struct transfer *transfer, const char *name, const char *value) {
  char *line = NULL;
  if (asprintf(&line, value[0] ? "%s: %s" : "%s:%s", name, value) < 0) return false;
  struct curl_slist *longer = curl_slist_append(transfer->headers, line);
  explicit_bzero(line, strlen(line));
  free(line);
  if (longer) transfer->headers = longer;
  return longer != NULL;
}

/* Reads the token each time, because the user may have replaced it. */
static const char *add_token(struct transfer *transfer, const char *file) {
  char *text = NULL;
  size_t len = 0;
  if (!file) return NULL;
  const char *mistake = secret_file_read(file, &text, &len);
  if (mistake) return mistake;
  while (len && isspace((unsigned char)text[len - 1])) text[--len] = '\0';
  for (size_t i = 0; !mistake && i < len; i++)
    if ((unsigned char)text[i] <= ' ') mistake = "is not one token on one line";
  if (!len) mistake = "is empty";
  char *value = NULL;
  if (!mistake &&
      (asprintf(&value, "Bearer %s", text) < 0 || !add_header(transfer, "Authorization", value)))
    mistake = "out of memory";
  if (value) explicit_bzero(value, strlen(value));
  free(value);
  explicit_bzero(text, len);
  free(text);
  return mistake;
}

static const char *add_headers(struct transfer *transfer, const struct transfer_target *target,
                               const struct output *output) {
  bool all =
      add_header(transfer, "Accept",
                 target->plain ? "text/event-stream" : "application/json, text/event-stream");
  if (target->plain) {
    all = all && add_header(transfer, "Cache-Control", "no-cache");
    if (output->text.len) all = all && add_header(transfer, "Last-Event-ID", transfer->text);
    return all ? add_token(transfer, target->token_file) : "out of memory";
  }
  all = all && add_header(transfer, "Content-Type", "application/json") &&
        add_header(transfer, "Expect", "");
  if (output->protocol) all = all && add_header(transfer, "MCP-Protocol-Version", output->protocol);
  if (output->modern && output->method)
    all = all && add_header(transfer, "Mcp-Method", output->method);
  else if (!output->modern && target->session)
    all = all && add_header(transfer, "Mcp-Session-Id", target->session);
  return all ? add_token(transfer, target->token_file) : "out of memory";
}

/* -- the answer -------------------------------------------------------------------------------- */

static bool is_stream(struct transfer *transfer) {
  static const char type[] = "text/event-stream";
  const char *found = NULL;
  curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &found);
  return found && strncasecmp(found, type, sizeof type - 1) == 0;
}

/* Does the answer's status alone say everything? */
static bool is_unread(const struct transfer *transfer) {
  long status = transfer->status;
  return !transfer->streams &&
         (transfer->plain || status == 401 || status == 403 || status == 429 || status >= 500);
}

/* libcurl calls this. Keeps the bytes until transfer_report. */
static size_t take_bytes(char *bytes, size_t size, size_t count, void *context) {
  struct transfer *transfer = context;
  size_t len = size * count;
  if (!transfer->begun) {
    transfer->begun = true;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->status);
    transfer->streams = transfer->status == 200 && is_stream(transfer);
    transfer->unread = is_unread(transfer);
  }
  if (transfer->unread) return 0;
  if (transfer->in.len + len > LARGEST_ANSWER) transfer->too_large = true;
  else buffer_append(&transfer->in, bytes, len);
  return transfer->too_large || transfer->in.failed ? 0 : len;
}

/* The end of the head of a stream shows that the server is well, even if no event follows. */
static void note_head(struct transfer *transfer) {
  curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->status);
  if (transfer->streams || transfer->status != 200 || !is_stream(transfer)) return;
  transfer->streams = transfer->opened = true;
}

static void note_date(struct transfer *transfer, struct tidings_span value) {
  char text[64];
  if (value.len >= sizeof text) return;
  snprintf(text, sizeof text, "%.*s", SPAN_FORMAT(value));
  time_t date = curl_getdate(text, NULL);
  if (date > 0) transfer->date_ms = (int64_t)date * 1000;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
  static const char name[] = "mcp-session-id:", date[] = "date:";
  struct transfer *transfer = context;
  size_t len = size * count, from = sizeof name - 1;
  if (len && (bytes[0] == '\r' || bytes[0] == '\n')) note_head(transfer);
  if (len < LONGEST_SESSION && strncasecmp(bytes, date, sizeof date - 1) == 0)
    note_date(transfer, span_of(bytes + sizeof date - 1, len - (sizeof date - 1)));
  if (len > from && len < LONGEST_SESSION && strncasecmp(bytes, name, from) == 0) {
    while (from < len && bytes[from] == ' ') from++;
    size_t to = len;
    while (to > from && isspace((unsigned char)bytes[to - 1])) to--;
    free(transfer->session);
    transfer->session = strndup(bytes + from, to - from);
  }
  return len;
}

static void set_up(struct transfer *transfer, const struct transfer_target *target) {
  CURL *easy = transfer->easy;
  curl_easy_setopt(easy, CURLOPT_URL, target->url);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L); /* the token is only for this server */
  if (target->local) /* a proxy on another machine would see the token in clear text */
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* ending does not wait for the lookup of a
                                                     name */
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "tidings/" TIDINGS_VERSION);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
  if (target->plain) return;
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->text);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(transfer->text));
}

struct transfer *transfer_new(const struct transfer_target *target, const struct output *output,
                              const char **ret_why) {
  struct transfer *transfer = calloc(1, sizeof *transfer);
  *ret_why = "out of memory";
  if (!transfer) return NULL;
  transfer->id = output->id;
  transfer->plain = target->plain;
  transfer->initializes = output->method && strcmp(output->method, "initialize") == 0;
  transfer->text = strndup(output->text.ptr ? output->text.ptr : "", output->text.len);
  transfer->easy = curl_easy_init();
  if (transfer->text && transfer->easy) *ret_why = add_headers(transfer, target, output);
  if (*ret_why) {
    transfer_free(transfer);
    return NULL;
  }
  set_up(transfer, target);
  return transfer;
}

void transfer_free(struct transfer *transfer) {
  curl_easy_cleanup(transfer->easy);
  curl_slist_free_all(transfer->headers);
  buffer_free(&transfer->in);
  sse_free(&transfer->sse);
  free(transfer->text);
  free(transfer->session);
  free(transfer);
}

/* -- reports ----------------------------------------------------------------------------------- */

/* Reports a stream's events. A report may drop the transfer, which then stays allocated. */
static void report_stream(struct transfer *transfer, bool plain, const struct wire_ears *ears) {
  struct tidings_span bytes = buffer_view(&transfer->in);
  struct sse_event event;
  bool lives = plain && (bytes.len || transfer->opened);
  bool go_on = !lives || ears->alive(ears->context);
  transfer->opened = false;
  while (go_on && !transfer->dropped && sse_next(&transfer->sse, &bytes, &event))
    go_on = plain ? ears->event(ears->context, &event) : ears->message(ears->context, event.data);
  transfer->in.len = 0;
  if (!go_on || sse_failed(&transfer->sse)) transfer->dropped = true;
}

static bool says_message(const struct transfer *transfer) {
  return transfer->result == CURLE_OK && !transfer->streams && transfer->in.len &&
         transfer->in.bytes[0] != '<';
}

/* Describes the end of an answer without a stream and without an error. */
static void describe_answer(const struct transfer *transfer, bool plain, char *text, size_t size) {
  if (transfer->streams) snprintf(text, size, "the connection was closed");
  else if (transfer->status != 200) snprintf(text, size, "HTTP %ld", transfer->status);
  else if (plain) snprintf(text, size, "the answer is no text/event-stream");
  else if (transfer->in.len) snprintf(text, size, "the answer is no MCP answer to the request");
  else snprintf(text, size, "the answer is empty");
}

static void report_end(const struct transfer *transfer, bool plain, const struct wire_ears *ears) {
  char text[96 + CURL_ERROR_SIZE];
  curl_off_t after_s = 0;
  long status = transfer->status;
  curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &after_s);
  if (after_s > RETRY_MOST_ASKED_MS / 1000) after_s = RETRY_MOST_ASKED_MS / 1000;
  if (transfer->too_large) snprintf(text, sizeof text, "the answer is too large");
  else if (transfer->result != CURLE_OK)
    snprintf(text, sizeof text, "%s",
             transfer->error[0] ? transfer->error : curl_easy_strerror(transfer->result));
  else if (status >= 300 && status < 400)
    snprintf(text, sizeof text, "HTTP %ld: redirects are not followed", status);
  else describe_answer(transfer, plain, text, sizeof text);
  const struct events_failure failure = {.status = transfer->result == CURLE_OK ? (int)status
                                                                                : EVENTS_NO_STATUS,
                                         .retry_after_ms = (int64_t)after_s * 1000,
                                         .reason = text};
  (void)ears->failed(ears->context, transfer->id, &failure, transfer->sse.retry_ms);
}

void transfer_report(struct transfer *transfer, bool plain, const struct wire_ears *ears) {
  if (transfer->streams) report_stream(transfer, plain, ears);
  if (!transfer->done || transfer->dropped) return;
  if (!transfer->begun)
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->status);
  if (!plain && transfer->date_ms) ears->date(ears->context, transfer->date_ms);
  if (!plain && says_message(transfer) && !ears->message(ears->context, buffer_view(&transfer->in)))
    transfer->dropped = true;
  if (transfer->id && !transfer->dropped) report_end(transfer, plain, ears);
  transfer->dropped = true;
}

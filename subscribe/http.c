/* SPDX-License-Identifier: MIT
 *
 * subscribe/http.c: libcurl says which descriptors and which time it waits for; the caller waits
 * for these together with its own descriptors and signals.
 */
#include "subscribe/http.h"

#include <stdlib.h>

#include "common/clock.h"

struct http {
  struct transfer_target target;
  char *session;
  CURLM *multi;
  struct transfer *first;
  struct pollfd *fds;
  size_t count, capacity;
  int64_t timer_ms; /* when libcurl wants to be called; INT64_MAX: never */
  uint64_t unsent;  /* a request that could not be started; 0: none */
  const char *why;
  bool failed; /* no memory for descriptors */
};

/* -- requests of libcurl ----------------------------------------------------------------------- */

static struct pollfd *find_fd(struct http *http, curl_socket_t fd) {
  for (size_t i = 0; i < http->count; i++)
    if (http->fds[i].fd == fd) return &http->fds[i];
  return NULL;
}

static struct pollfd *add_fd(struct http *http, curl_socket_t fd) {
  if (http->count == http->capacity) {
    size_t more = http->capacity ? 2 * http->capacity : 8;
    struct pollfd *larger = realloc(http->fds, more * sizeof *larger);
    if (!larger) return NULL;
    http->fds = larger;
    http->capacity = more;
  }
  http->fds[http->count] = (struct pollfd){.fd = fd};
  return &http->fds[http->count++];
}

static int note_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *unused) {
  struct http *http = context;
  struct pollfd *row = find_fd(http, fd);
  (void)easy;
  (void)unused;
  if (what == CURL_POLL_REMOVE) {
    if (row) *row = http->fds[--http->count];
    return 0;
  }
  if (!row) row = add_fd(http, fd);
  if (!row) {
    http->failed = true;
    return 0;
  }
  row->events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
  return 0;
}

static int note_timer(CURLM *multi, long ms, void *context) {
  struct http *http = context;
  (void)multi;
  http->timer_ms = ms < 0 ? INT64_MAX : clock_mono_ms() + ms;
  return 0;
}

/* -- requests ---------------------------------------------------------------------------------- */

enum { MOST_ANSWERS = 64 }; /* our answers that are being sent */

static size_t count_answers(const struct http *http) {
  size_t count = 0;
  for (const struct transfer *one = http->first; one; one = one->next) count += !one->id;
  return count;
}

struct http *http_begin(const struct transfer_target *target) {
  struct http *http = calloc(1, sizeof *http);
  if (!http) return NULL;
  http->target = *target;
  http->timer_ms = INT64_MAX;
  http->multi = curl_multi_init();
  if (!http->multi) {
    free(http);
    return NULL;
  }
  curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, note_socket);
  curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
  curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, note_timer);
  curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
  return http;
}

void http_send(struct http *http, const struct output *output, int64_t now_ms) {
  const char *why = NULL;
  if (!output->id && count_answers(http) >= MOST_ANSWERS) return;
  http->target.session = http->session;
  struct transfer *transfer = transfer_new(&http->target, output, &why);
  if (transfer && curl_multi_add_handle(http->multi, transfer->easy)) {
    transfer_free(transfer);
    transfer = NULL;
    why = "out of memory";
  }
  if (!transfer) {
    http->unsent = output->id;
    http->why = why;
    http->timer_ms = now_ms;
    return;
  }
  transfer->next = http->first;
  http->first = transfer;
}

void http_cancel(struct http *http, uint64_t id) {
  for (struct transfer *one = http->first; one; one = one->next)
    if (one->id == id) one->dropped = true;
}

/* Removes the transfers that a report has marked, because a report itself must not remove any. */
static void sweep(struct http *http) {
  for (struct transfer **place = &http->first; *place;) {
    struct transfer *one = *place;
    if (!one->dropped) {
      place = &one->next;
      continue;
    }
    *place = one->next;
    curl_multi_remove_handle(http->multi, one->easy);
    transfer_free(one);
  }
}

void http_reset(struct http *http) {
  for (struct transfer *one = http->first; one; one = one->next) one->dropped = true;
  free(http->session);
  http->session = NULL;
}

int64_t http_due_ms(const struct http *http) { return http->timer_ms; }

struct pollfd *http_fds(struct http *http, size_t *ret_count) {
  sweep(http);
  *ret_count = http->count;
  return http->fds;
}

/* -- what comes back --------------------------------------------------------------------------- */

static int flags_of(short revents) {
  int flags = 0;
  if (revents & (POLLIN | POLLHUP)) flags |= CURL_CSELECT_IN;
  if (revents & POLLOUT) flags |= CURL_CSELECT_OUT;
  if (revents & (POLLERR | POLLNVAL)) flags |= CURL_CSELECT_ERR;
  return flags;
}

/* The rows may move while libcurl acts, so each round takes the first row that is ready. */
static void let_curl_act(struct http *http, int64_t now_ms) {
  int running = 0;
  for (size_t i = 0; i < http->count;) {
    struct pollfd *row = &http->fds[i];
    int flags = flags_of(row->revents);
    row->revents = 0;
    if (!flags) {
      i++;
      continue;
    }
    curl_multi_socket_action(http->multi, row->fd, flags, &running);
    i = 0;
  }
  if (now_ms < http->timer_ms) return;
  http->timer_ms = INT64_MAX;
  curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static void note_done(struct http *http) {
  int left = 0;
  for (CURLMsg *said = curl_multi_info_read(http->multi, &left); said;
       said = curl_multi_info_read(http->multi, &left)) {
    struct transfer *transfer = NULL;
    if (said->msg != CURLMSG_DONE) continue;
    curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->done = true;
    transfer->result = transfer->unread ? CURLE_OK : said->data.result;
  }
}

static void report_unsent(struct http *http, const struct wire_ears *ears) {
  uint64_t id = http->unsent;
  if (!id) return;
  http->unsent = 0;
  char text[256];
  snprintf(text, sizeof text, "%s: %s", http->target.token_file ? http->target.token_file : "curl",
           http->why);
  const struct events_failure failure = {.status = EVENTS_NO_STATUS, .reason = text};
  (void)ears->failed(ears->context, id, &failure, 0);
}

void http_handle(struct http *http, int64_t now_ms, const struct wire_ears *ears) {
  let_curl_act(http, now_ms);
  note_done(http);
  report_unsent(http, ears);
  for (struct transfer *one = http->first; one; one = one->next) {
    if (one->dropped) continue;
    if (one->initializes && one->session) {
      free(http->session);
      http->session = one->session;
      one->session = NULL;
    }
    transfer_report(one, http->target.plain, ears);
  }
  sweep(http);
}

void http_end(struct http *http) {
  if (!http) return;
  http_reset(http);
  sweep(http);
  curl_multi_cleanup(http->multi);
  free(http->fds);
  free(http);
}

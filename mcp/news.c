/* SPDX-License-Identifier: MIT
 *
 * mcp/news.c: see the header. Results are added to while another thread reads what the host sends:
 * the lock is for both.
 */
#include "mcp/news.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/project.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "mcp/agent.h"
#include "mcp/session.h"

/* How long a result may wait for somebody else, and how large a block may be: no host says how much
 * of a result its model gets. */
enum { PATIENCE_MS = 5, ROOM_BYTES = 10000, SETTLE_MS = 2000, READ_MS = 2000, CALL_ID_SIZE = 160 };

void mcp_news_begin(const struct cli *cli, struct mcp_news *ret_news) {
  *ret_news = (struct mcp_news){.cli = cli, .writer = {.channel = -1}};
  (void)pthread_mutex_init(&ret_news->lock, NULL);
  ret_news->owner = mcp_agent_find(ret_news->agent, sizeof ret_news->agent);
  ret_news->shows_errors_raw = mcp_agent_shows_errors_raw();
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* `named` empty: the session of the agent's environment or process. */
static void add_session(struct mcp_news *news, const char *named) {
  char folder[PATH_MAX], *name = NULL;
  struct mcp_session *session = &news->sessions[news->session_count];
  const char *known = named[0] ? named : mcp_agent_session();
  if (!getcwd(folder, sizeof folder)) return;
  const struct mcp_owner owner = {.kit = news->kit, .pid = news->owner, .agent = news->agent};
  *session = (struct mcp_session){.name = known ? strdup(known) : mcp_session_find_hooked(&owner)};
  if (!session->name) {
    if (mcp_session_attach_to_folder(&owner, folder, &name)) return;
    session->name = name;
  } else {
    int32_t code = TIDINGS_E_OWNED;
    if (!mcp_session_is_hooked(news->kit, session->name))
      code = mcp_session_attach(&owner, session->name, folder);
    session->off = code == TIDINGS_E_OWNED;
    if (code && !session->off) {
      free(session->name);
      session->name = NULL;
      return;
    }
  }
  project_lay_in(news->cli, news->kit, folder);
  (void)mcp_writer_add_session(&news->writer, session->name);
  news->session_count++;
}

/* The first one is that of this process. NULL: there is none. */
static struct mcp_session *find_session(struct mcp_news *news, const char *named) {
  if (!news->kit) return NULL;
  for (size_t i = 0; i < news->session_count; i++) {
    if (!named[0] || strcmp(news->sessions[i].name, named) == 0) return &news->sessions[i];
  }
  return NULL;
}

/* While others open the store or write to it, it is tried again; then with the next call. */
static void open_store(struct mcp_news *news) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = TIDINGS_E_BUSY;
  if (news->kit || news->failed || !news->owner) return;
  if (news->writer.channel < 0) {
    int reason = mcp_writer_start(news->cli, news->owner, &news->writer);
    news->failed = reason != 0;
    if (reason) cli_warn(news->cli, "results go on without notifications: %s", strerror(reason));
    if (reason) return;
    mcp_writer_mark(news->writer.pid, news->mark);
  }
  int64_t until_ms = clock_mono_ms() + SETTLE_MS;
  while (code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms)
    code = kit_open(news->cli, TIDINGS_ROLE_HOST, news->owner, &news->kit, &error);
  news->failed = code && code != TIDINGS_E_BUSY;
  if (news->failed) cli_warn(news->cli, "results go on without notifications: %s", error.text);
}

static struct mcp_session *open_session(struct mcp_news *news, const char *named) {
  open_store(news);
  struct mcp_session *session = find_session(news, named);
  if (session || !news->kit || news->session_count == MCP_MOST_SESSIONS) return session;
  add_session(news, named);
  return find_session(news, named);
}

void mcp_news_open(struct mcp_news *news, const char *named) {
  pthread_mutex_lock(&news->lock);
  (void)open_session(news, named);
  pthread_mutex_unlock(&news->lock);
}

bool mcp_news_session(struct mcp_news *news, const char *named, char *name, size_t size) {
  pthread_mutex_lock(&news->lock);
  const struct mcp_session *session = open_session(news, named);
  if (session) snprintf(name, size, "%s", session->name);
  pthread_mutex_unlock(&news->lock);
  return session != NULL;
}

char *mcp_news_last_sender(struct mcp_news *news, const char *session) {
  pthread_mutex_lock(&news->lock);
  char *sender = news->kit ? mcp_session_last_sender(news->kit, session) : NULL;
  pthread_mutex_unlock(&news->lock);
  return sender;
}

/* -- results ----------------------------------------------------------------------------------- */

/* Whether it has the lock. */
static bool lock_soon(struct mcp_news *news) {
  int64_t until_ms = clock_wall_ms() + PATIENCE_MS;
  const struct timespec until = {.tv_sec = until_ms / 1000,
                                 .tv_nsec = (long)(until_ms % 1000) * 1000000L};
  return pthread_mutex_timedlock(&news->lock, &until) == 0;
}

static bool is_pending(struct mcp_news *news, const char *session) {
  json_t *answer = NULL;
  (void)kit_query(news->kit,
                  json_pack("{s:s, s:s, s:i}", "name", "pending", "session", session, "limit", 1),
                  &answer, NULL);
  bool pending = json_value_count(answer, "count") > 0;
  json_decref(answer);
  return pending;
}

bool mcp_news_wait(struct mcp_news *news) {
  bool waits = false;
  if (!lock_soon(news)) return false;
  for (size_t i = 0; !waits && !news->ends && i < news->session_count; i++)
    waits = !news->sessions[i].off && is_pending(news, news->sessions[i].name);
  pthread_mutex_unlock(&news->lock);
  return waits;
}

/* The texts of a block, an empty line between them, without the line breaks around each. */
static char *joined(const struct hostkit_outgoing *outgoing) {
  struct buffer text = BUFFER_EMPTY;
  for (size_t i = 0; i < outgoing->part_count; i++) {
    const char *start = outgoing->parts[i]->text, *end = start + outgoing->parts[i]->text_len;
    while (start < end && *start == '\n') start++;
    while (end > start && end[-1] == '\n') end--;
    if (start == end) continue;
    if (text.len) buffer_text(&text, "\n\n");
    buffer_append(&text, start, (size_t)(end - start));
  }
  return buffer_take(&text);
}

static void roll_back(struct mcp_news *news, uint64_t delivery) {
  if (delivery) (void)kit_settle(news->kit, delivery, TIDINGS_ROLLED_BACK, SETTLE_MS, NULL, NULL);
}

/* A delivery of nothing, as of what has expired, is settled at once. */
static void take_reply(struct mcp_news *news, const struct tidings_reply *reply,
                       struct mcp_block *block) {
  const struct tidings_span nothing = span_of("", 0);
  struct hostkit_outgoing *outgoing = NULL;
  if (!reply->delivery_id) return;
  char *text = hostkit_compose(&nothing, reply, &outgoing, NULL) ? NULL : joined(outgoing);
  hostkit_outgoing_free(outgoing);
  if (text && text[0]) {
    *block = (struct mcp_block){.text = text, .delivery = reply->delivery_id};
    return;
  }
  (void)kit_settle(news->kit, reply->delivery_id, text ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK,
                   SETTLE_MS, NULL, NULL);
  free(text);
}

static size_t free_place(const struct mcp_news *news) {
  size_t place = 0;
  while (place < MCP_MOST_LEASES && news->leases[place].delivery) place++;
  return place;
}

void mcp_news_lease(struct mcp_news *news, const char *named, const char *call, const char *tool,
                    struct mcp_block *ret_block) {
  struct mcp_block block = {.text = NULL};
  struct tidings_reply *reply = NULL;
  char id[CALL_ID_SIZE];
  *ret_block = block;
  if (!lock_soon(news)) return;
  struct mcp_session *session = find_session(news, named);
  if (!session || session->off || news->ends || free_place(news) == MCP_MOST_LEASES) goto out;
  snprintf(id, sizeof id, "%s%.100s", news->mark, call);
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text(session->name),
                                             .call_id = span_text(id),
                                             .tool = span_of(tool, strnlen(tool, 255)),
                                             .room_bytes = ROOM_BYTES};
  if (hostkit_tool_result(news->kit, &result, &reply, NULL) || !reply) goto out;
  /* Hooks may have been set up since. */
  session->off = reply->delivery_id && mcp_session_is_hooked(news->kit, session->name);
  if (session->off) roll_back(news, reply->delivery_id);
  else take_reply(news, reply, &block);
  hostkit_reply_free(reply);
out:
  pthread_mutex_unlock(&news->lock);
  *ret_block = block;
}

static void settle_lease(struct mcp_news *news, struct mcp_lease *lease, uint32_t outcome) {
  int32_t code = kit_settle(news->kit, lease->delivery, outcome, SETTLE_MS, NULL, NULL);
  if (code == TIDINGS_E_BUSY) return; /* with the next message */
  mcp_writer_forget(&news->writer, lease->delivery);
  *lease = (struct mcp_lease){.delivery = 0};
}

/* The writer has said that it is written: the host may have read it and gone on before that. */
static void note_written(struct mcp_news *news, struct mcp_lease *lease) {
  lease->is_written = true;
  lease->was_read = lease->went_on && mcp_writer_was_read(STDOUT_FILENO);
  if (lease->was_read) settle_lease(news, lease, TIDINGS_COMMITTED);
}

int mcp_news_write(struct mcp_news *news, struct mcp_block *block, struct tidings_span line) {
  pthread_mutex_lock(&news->lock);
  struct mcp_lease *lease = &news->leases[free_place(news)];
  *lease = (struct mcp_lease){.delivery = block->delivery};
  pthread_mutex_unlock(&news->lock);
  int reason = mcp_writer_write(&news->writer, block->delivery, line);
  pthread_mutex_lock(&news->lock);
  if (reason) settle_lease(news, lease, TIDINGS_ROLLED_BACK);
  else note_written(news, lease);
  pthread_mutex_unlock(&news->lock);
  free(block->text);
  *block = (struct mcp_block){.text = NULL};
  return reason;
}

void mcp_news_give_back(struct mcp_news *news, struct mcp_block *block) {
  pthread_mutex_lock(&news->lock);
  roll_back(news, block->delivery);
  pthread_mutex_unlock(&news->lock);
  free(block->text);
  *block = (struct mcp_block){.text = NULL};
}

/* -- what the host has read -------------------------------------------------------------------- */

static bool has_leases(const struct mcp_news *news) {
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    if (news->leases[i].delivery) return true;
  }
  return false;
}

void mcp_news_host_goes_on(struct mcp_news *news) {
  pthread_mutex_lock(&news->lock);
  bool was_read = has_leases(news) && mcp_writer_was_read(STDOUT_FILENO);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    struct mcp_lease *lease = &news->leases[i];
    if (lease->is_written) lease->was_read = lease->was_read || was_read;
    else lease->went_on = lease->delivery != 0;
  }
  pthread_mutex_unlock(&news->lock);
}

void mcp_news_settle(struct mcp_news *news) {
  pthread_mutex_lock(&news->lock);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    if (news->leases[i].was_read) settle_lease(news, &news->leases[i], TIDINGS_COMMITTED);
  }
  pthread_mutex_unlock(&news->lock);
}

/* A host that was killed has closed its pipes too. */
static bool has_read_all(const struct mcp_news *news) {
  for (int waited_ms = 0; waited_ms < READ_MS; waited_ms++) {
    if (mcp_agent_is_ending(news->owner) || mcp_writer_is_closed(STDOUT_FILENO)) return false;
    if (mcp_writer_was_read(STDOUT_FILENO)) return true;
    clock_sleep_ms(1);
  }
  return false;
}

void mcp_news_host_ends(struct mcp_news *news) {
  pthread_mutex_lock(&news->lock);
  news->ends = true;
  bool was_read = has_leases(news) && has_read_all(news);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    struct mcp_lease *lease = &news->leases[i];
    uint32_t outcome = was_read || lease->was_read ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK;
    if (lease->is_written) settle_lease(news, lease, outcome);
  }
  pthread_mutex_unlock(&news->lock);
}

/* -- the end ----------------------------------------------------------------------------------- */

void mcp_news_server_ended(struct mcp_news *news, const char *server) {
  int32_t code = TIDINGS_E_BUSY;
  int64_t until_ms = clock_mono_ms() + SETTLE_MS;
  pthread_mutex_lock(&news->lock);
  const struct mcp_session *session = open_session(news, "");
  while (session && code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms) {
    json_t *data = json_pack("{s:s, s:s}", "server", server, "state", "disconnected");
    code = kit_event(news->kit, kit_new_event("mcp.state", session->name, data), NULL, NULL);
  }
  pthread_mutex_unlock(&news->lock);
}

void mcp_news_end(struct mcp_news *news) {
  mcp_news_host_ends(news); /* what was written last may still be in the pipe */
  mcp_writer_end(&news->writer);
  kit_close(news->kit);
  for (size_t i = 0; i < news->session_count; i++) free(news->sessions[i].name);
  pthread_mutex_destroy(&news->lock);
}

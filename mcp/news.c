/* SPDX-License-Identifier: MIT
 */
#include "mcp/news.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/patience.h"
#include "command/project.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/libc.h"
#include "mcp/agent.h"
#include "mcp/session.h"

/* PATIENCE_MS: how long a result may wait for another thread that uses the store; with the budget
 * of the plugin's call it is 5 ms in all. ROOM_BYTES: how large a block may be; no host says how
 * much of a result its model gets. */
enum { PATIENCE_MS = 2, ROOM_BYTES = 10000, SETTLE_MS = 2000, READ_MS = 2000, CALL_ID_SIZE = 160 };

void mcp_news_begin(const struct cli *cli, struct mcp_news *ret_news) {
  *ret_news = (struct mcp_news){.cli = cli, .writer = {.channel = -1}};
  (void)pthread_mutex_init(&ret_news->store_lock, NULL);
  (void)pthread_mutex_init(&ret_news->lock, NULL);
  ret_news->owner = mcp_agent_find(ret_news->agent, sizeof ret_news->agent);
  ret_news->shows_errors_raw = mcp_agent_shows_errors_raw();
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* Adds the named session; if `named` is empty, the session of the agent's environment or process.
 */
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
  pthread_mutex_lock(&news->lock);
  news->session_count++;
  pthread_mutex_unlock(&news->lock);
}

/* Finds a session. The first one belongs to this process. NULL: there is none. */
static struct mcp_session *find_session(struct mcp_news *news, const char *named) {
  for (size_t i = 0; i < news->session_count; i++) {
    if (!named[0] || strcmp(news->sessions[i].name, named) == 0) return &news->sessions[i];
  }
  return NULL;
}

/* Notes that the store cannot be opened. If it may return, as an unreachable database may, the next
 * call tries again. */
static void note_failure(struct mcp_news *news, bool may_return, const char *why) {
  if (!news->warned) cli_warn(news->cli, "results go on without notifications: %s", why);
  pthread_mutex_lock(&news->lock);
  news->warned = true;
  news->failed = !may_return;
  pthread_mutex_unlock(&news->lock);
}

/* Opens the store, and tries again for a while if other processes are opening it or writing to it.
 * If that fails, the next call tries again. */
static void open_store(struct mcp_news *news) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = TIDINGS_E_BUSY;
  if (news->kit || news->failed || !news->owner) return;
  if (news->writer.channel < 0) {
    int reason = mcp_writer_start(news->cli, news->owner, &news->writer);
    if (reason) {
      note_failure(news, false, strerror(reason));
      return;
    }
    mcp_writer_mark(news->writer.pid, news->mark);
  }
  int64_t until_ms = clock_mono_ms() + SETTLE_MS;
  while (code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms)
    code = kit_open(news->cli, TIDINGS_ROLE_HOST, news->owner, &news->kit, &error);
  if (code && code != TIDINGS_E_BUSY)
    note_failure(news, patience_may_return(news->cli, code), error.text);
}

static struct mcp_session *open_session(struct mcp_news *news, const char *named) {
  open_store(news);
  struct mcp_session *session = find_session(news, named);
  if (session || !news->kit || news->session_count == MCP_MOST_SESSIONS) return session;
  add_session(news, named);
  return find_session(news, named);
}

void mcp_news_open(struct mcp_news *news, const char *named) {
  pthread_mutex_lock(&news->store_lock);
  (void)open_session(news, named);
  pthread_mutex_unlock(&news->store_lock);
}

bool mcp_news_is_to_open(struct mcp_news *news, const char *named) {
  pthread_mutex_lock(&news->lock);
  bool is_to = !news->failed && !find_session(news, named);
  pthread_mutex_unlock(&news->lock);
  return is_to;
}

bool mcp_news_session(struct mcp_news *news, const char *named, char *name, size_t size) {
  pthread_mutex_lock(&news->store_lock);
  const struct mcp_session *session = open_session(news, named);
  if (session) snprintf(name, size, "%s", session->name);
  pthread_mutex_unlock(&news->store_lock);
  return session != NULL;
}

char *mcp_news_last_sender(struct mcp_news *news, const char *session) {
  pthread_mutex_lock(&news->store_lock);
  char *sender = news->kit ? mcp_session_last_sender(news->kit, session) : NULL;
  pthread_mutex_unlock(&news->store_lock);
  return sender;
}

/* -- results ----------------------------------------------------------------------------------- */

/* Takes the store's lock within the patience. False: another thread kept it. */
static bool lock_soon(struct mcp_news *news) {
  uint64_t until_ns = clock_mono_ns() + (uint64_t)PATIENCE_MS * 1000000u;
  return libc_lock_until(&news->store_lock, until_ns) == 0;
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

bool mcp_news_are_pending(struct mcp_news *news) {
  bool waits = false;
  if (pthread_mutex_trylock(&news->store_lock)) return true;
  for (size_t i = 0; !waits && !news->ends && i < news->session_count; i++)
    waits = !news->sessions[i].off && is_pending(news, news->sessions[i].name);
  pthread_mutex_unlock(&news->store_lock);
  return waits;
}

/* Joins the texts of a block with empty lines between them, without the line breaks around each
 * text. */
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

/* Returns a free place for a lease; MCP_MOST_LEASES: there is none. */
static size_t free_place(const struct mcp_news *news) {
  size_t place = 0;
  while (place < MCP_MOST_LEASES && news->leases[place].delivery) place++;
  return place;
}

/* Only the thread of the results calls this, and it has checked that there is a free place. */
static void add_lease(struct mcp_news *news, struct mcp_lease lease) {
  pthread_mutex_lock(&news->lock);
  news->leases[free_place(news)] = lease;
  pthread_mutex_unlock(&news->lock);
}

/* Makes the block. A delivery without a text, because everything has expired, must be settled at
 * once. */
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
  add_lease(news, (struct mcp_lease){
                      .delivery = reply->delivery_id, .was_read = text != NULL, .is_back = !text});
  free(text);
}

static bool has_place(struct mcp_news *news) {
  pthread_mutex_lock(&news->lock);
  bool has = free_place(news) < MCP_MOST_LEASES;
  pthread_mutex_unlock(&news->lock);
  return has;
}

void mcp_news_lease(struct mcp_news *news, const char *named, const char *call, const char *tool,
                    struct mcp_block *ret_block) {
  struct mcp_block block = {.text = NULL};
  struct tidings_reply *reply = NULL;
  char id[CALL_ID_SIZE];
  *ret_block = block;
  if (!lock_soon(news)) return;
  struct mcp_session *session = find_session(news, named);
  if (!session || session->off || news->ends || !has_place(news)) goto out;
  if (!mcp_session_withdraw(news->kit, session->name)) goto out;
  snprintf(id, sizeof id, "%s%.100s", news->mark, call);
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text(session->name),
                                             .call_id = span_text(id),
                                             .tool = span_of(tool, strnlen(tool, 255)),
                                             .room_bytes = ROOM_BYTES};
  if (hostkit_tool_result(news->kit, &result, &reply, NULL) || !reply) goto out;
  /* Hooks may have been set up meanwhile. */
  session->off = reply->delivery_id && mcp_session_is_hooked(news->kit, session->name);
  if (session->off)
    add_lease(news, (struct mcp_lease){.delivery = reply->delivery_id, .is_back = true});
  else take_reply(news, reply, &block);
  hostkit_reply_free(reply);
out:
  pthread_mutex_unlock(&news->store_lock);
  *ret_block = block;
}

/* Notes that the writer has reported a result as written. The host may have read it and gone on
 * before the report. */
static void note_written(struct mcp_news *news, uint64_t delivery, bool written) {
  pthread_mutex_lock(&news->lock);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    struct mcp_lease *lease = &news->leases[i];
    if (lease->delivery != delivery) continue;
    lease->is_written = written;
    lease->is_back = !written;
    lease->was_read = written && lease->went_on && mcp_writer_was_read(STDOUT_FILENO);
  }
  pthread_mutex_unlock(&news->lock);
}

/* Starts another writer after the death of the first one. Without a writer no result gets a
 * block. */
static void replace_writer(struct mcp_news *news) {
  pthread_mutex_lock(&news->store_lock);
  mcp_writer_end(&news->writer);
  int reason = mcp_writer_start(news->cli, news->owner, &news->writer);
  if (!reason) mcp_writer_mark(news->writer.pid, news->mark);
  for (size_t i = 0; !reason && i < news->session_count; i++)
    (void)mcp_writer_add_session(&news->writer, news->sessions[i].name);
  pthread_mutex_lock(&news->lock);
  if (reason) news->ends = true;
  pthread_mutex_unlock(&news->lock);
  pthread_mutex_unlock(&news->store_lock);
}

int mcp_news_write(struct mcp_news *news, struct mcp_block *block, struct tidings_span line,
                   bool *ret_begun) {
  add_lease(news, (struct mcp_lease){.delivery = block->delivery});
  int reason = mcp_writer_write(&news->writer, block->delivery, line, ret_begun);
  note_written(news, block->delivery, !reason);
  if (!*ret_begun) replace_writer(news);
  free(block->text);
  *block = (struct mcp_block){.text = NULL};
  return reason;
}

void mcp_news_give_back(struct mcp_news *news, struct mcp_block *block) {
  add_lease(news, (struct mcp_lease){.delivery = block->delivery, .is_back = true});
  free(block->text);
  *block = (struct mcp_block){.text = NULL};
}

/* -- what the host has read -------------------------------------------------------------------- */

static bool is_open(const struct mcp_lease *lease) {
  return lease->delivery && !lease->was_read && !lease->is_back;
}

static bool has_open_leases(const struct mcp_news *news) {
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    if (is_open(&news->leases[i])) return true;
  }
  return false;
}

void mcp_news_host_goes_on(struct mcp_news *news) {
  pthread_mutex_lock(&news->lock);
  bool was_read = has_open_leases(news) && mcp_writer_was_read(STDOUT_FILENO);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    struct mcp_lease *lease = &news->leases[i];
    if (!is_open(lease)) continue;
    if (lease->is_written) lease->was_read = was_read;
    else lease->went_on = true;
  }
  pthread_mutex_unlock(&news->lock);
}

bool mcp_news_is_to_settle(struct mcp_news *news) {
  bool any = false;
  pthread_mutex_lock(&news->lock);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++)
    any = any || news->leases[i].was_read || news->leases[i].is_back;
  pthread_mutex_unlock(&news->lock);
  return any;
}

static void settle_lease(struct mcp_news *news, size_t place) {
  pthread_mutex_lock(&news->lock);
  const struct mcp_lease lease = news->leases[place];
  pthread_mutex_unlock(&news->lock);
  if (!lease.was_read && !lease.is_back) return;
  int32_t code =
      kit_settle(news->kit, lease.delivery,
                 lease.was_read ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK, SETTLE_MS, NULL, NULL);
  if (patience_may_return(news->cli, code)) return;
  mcp_writer_forget(&news->writer, lease.delivery);
  pthread_mutex_lock(&news->lock);
  news->leases[place] = (struct mcp_lease){.delivery = 0};
  pthread_mutex_unlock(&news->lock);
}

void mcp_news_settle(struct mcp_news *news) {
  if (!mcp_news_is_to_settle(news)) return;
  pthread_mutex_lock(&news->store_lock);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) settle_lease(news, i);
  pthread_mutex_unlock(&news->store_lock);
}

/* Waits until the host has read all results. A host that was killed has closed its pipes. */
static bool has_read_all(const struct mcp_news *news) {
  for (int waited_ms = 0; waited_ms < READ_MS; waited_ms++) {
    if (mcp_agent_is_ending(news->owner) || mcp_writer_is_closed(STDOUT_FILENO)) return false;
    if (mcp_writer_was_read(STDOUT_FILENO)) return true;
    clock_sleep_ms(1);
  }
  return false;
}

/* Once `ends` is set, no lease is added. A lease whose result is being written stays. */
void mcp_news_host_ends(struct mcp_news *news) {
  pthread_mutex_lock(&news->store_lock);
  pthread_mutex_lock(&news->lock);
  news->ends = true;
  bool any = has_open_leases(news);
  pthread_mutex_unlock(&news->lock);
  pthread_mutex_unlock(&news->store_lock);
  bool was_read = any && has_read_all(news);
  pthread_mutex_lock(&news->lock);
  for (size_t i = 0; i < MCP_MOST_LEASES; i++) {
    struct mcp_lease *lease = &news->leases[i];
    if (!is_open(lease) || !lease->is_written) continue;
    lease->was_read = was_read;
    lease->is_back = !was_read;
  }
  pthread_mutex_unlock(&news->lock);
  mcp_news_settle(news);
}

/* -- the end ----------------------------------------------------------------------------------- */

void mcp_news_server_ended(struct mcp_news *news, const char *server) {
  int32_t code = TIDINGS_E_BUSY;
  int64_t until_ms = clock_mono_ms() + SETTLE_MS;
  pthread_mutex_lock(&news->store_lock);
  const struct mcp_session *session = open_session(news, "");
  while (session && code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms) {
    json_t *data = json_pack("{s:s, s:s}", "server", server, "state", "disconnected");
    code = kit_event(news->kit, kit_new_event("mcp.state", session->name, data), NULL, NULL);
  }
  pthread_mutex_unlock(&news->store_lock);
}

void mcp_news_end(struct mcp_news *news) {
  mcp_news_host_ends(news); /* the last result may still be in the pipe */
  if (mcp_news_is_to_settle(news)) mcp_writer_leave(&news->writer);
  else mcp_writer_end(&news->writer);
  kit_close(news->kit);
  for (size_t i = 0; i < news->session_count; i++) free(news->sessions[i].name);
  pthread_mutex_destroy(&news->lock);
  pthread_mutex_destroy(&news->store_lock);
}

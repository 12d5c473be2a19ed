/* SPDX-License-Identifier: MIT
 *
 * mcp/writer.c: the functions for the wrapper, then the process.
 */
#include "mcp/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/kit.h"
#include "command/owner.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/spawn.h"

#define WRITER_VERB "mcp-writer"
#define MARK "mcp-"
enum { SETTLE_MS = 10000, MOST_SESSIONS = 16, MOST_DELIVERIES = 256, LONGEST_PAUSE_MS = 50 };

enum frame_kind { FRAME_SESSION = 1, FRAME_RESULT, FRAME_SETTLED, FRAME_END };
/* Both ends are the same program, so the struct is sent as it is. */
struct frame {
  uint32_t kind, reserved;
  uint64_t delivery, len; /* len: how many bytes follow */
};

/* -- functions for the wrapper ----------------------------------------------------------------- */

void mcp_writer_mark(pid_t pid, char mark[MCP_WRITER_MARK_SIZE]) {
  snprintf(mark, MCP_WRITER_MARK_SIZE, MARK "%ld:", (long)pid);
}

bool mcp_writer_has_ended(const char *call_id) {
  char program[OWNER_NAME_SIZE], own[OWNER_NAME_SIZE], *end = NULL;
  if (strncmp(call_id, MARK, sizeof MARK - 1) != 0) return false;
  unsigned long pid = strtoul(call_id + sizeof MARK - 1, &end, 10);
  if (*end != ':' || !pid || pid > UINT32_MAX) return false;
  owner_program((uint32_t)pid, program);
  owner_program((uint32_t)getpid(), own);
  return strcmp(program, own) != 0;
}

bool mcp_writer_is_closed(int fd) {
  struct pollfd poll_fd = {.fd = fd, .events = 0};
  return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* When a socket is closed, bytes that were not read are lost; a pipe keeps them. */
bool mcp_writer_was_read(int fd) {
  struct stat info;
  int unread = 0;
  if (fstat(fd, &info)) return false;
  if (S_ISSOCK(info.st_mode))
    return !ioctl(fd, TIOCOUTQ, &unread) && !unread && !mcp_writer_is_closed(fd);
  if (S_ISFIFO(info.st_mode)) return !ioctl(fd, FIONREAD, &unread) && !unread;
  return true;
}

int mcp_writer_start(const struct cli *cli, uint32_t owner, struct mcp_writer *ret_writer) {
  const char *argv[10] = {cli->program->name, WRITER_VERB};
  char number[16];
  int ends[2], count = 2;
  pid_t pid = -1;
  if (cli->store) {
    argv[count++] = "--store";
    argv[count++] = cli->store;
  }
  if (cli->config) {
    argv[count++] = "--config";
    argv[count++] = cli->config;
  }
  snprintf(number, sizeof number, "%u", owner);
  argv[count++] = number;
  argv[count] = NULL;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return errno;
  const struct spawn spawn = {.program = "/proc/self/exe",
                              .argv = argv,
                              .in = SPAWN_NULL,
                              .channel = ends[1],
                              .close_others = true,
                              .own_group = true,
                              .fresh_signals = true};
  int reason = spawn_start(&spawn, &pid);
  close(ends[1]);
  if (reason) close(ends[0]);
  else *ret_writer = (struct mcp_writer){.channel = ends[0], .pid = pid};
  return reason;
}

/* Sends a frame under a lock, because one thread settles while the other one writes. */
static int send_frame(const struct mcp_writer *writer, enum frame_kind kind, uint64_t delivery,
                      struct tidings_span bytes) {
  static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
  const struct frame frame = {.kind = kind, .delivery = delivery, .len = bytes.len};
  pthread_mutex_lock(&sending);
  int reason = file_write_all(writer->channel, (const char *)&frame, sizeof frame);
  if (!reason) reason = file_write_all(writer->channel, bytes.ptr, bytes.len);
  pthread_mutex_unlock(&sending);
  return reason;
}

int mcp_writer_add_session(const struct mcp_writer *writer, const char *session) {
  return send_frame(writer, FRAME_SESSION, 0, span_text(session));
}

/* Returns 0, or an errno: EPIPE if the other side has ended. */
static int read_exactly(int fd, void *buffer, size_t len) {
  char *bytes = buffer;
  while (len) {
    ssize_t got = read(fd, bytes, len);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got ? errno : EPIPE;
    bytes += got;
    len -= (size_t)got;
  }
  return 0;
}

int mcp_writer_write(const struct mcp_writer *writer, uint64_t delivery, struct tidings_span bytes,
                     bool *ret_begun) {
  int32_t outcome = 0;
  int reason = send_frame(writer, FRAME_RESULT, delivery, bytes);
  *ret_begun = !reason; /* the process writes nothing before it has the whole frame */
  if (!reason) reason = read_exactly(writer->channel, &outcome, sizeof outcome);
  return reason ? reason : (int)outcome;
}

void mcp_writer_forget(const struct mcp_writer *writer, uint64_t delivery) {
  (void)send_frame(writer, FRAME_SETTLED, delivery, span_of(NULL, 0));
}

void mcp_writer_end(struct mcp_writer *writer) {
  int status = 0;
  if (writer->channel < 0) return;
  (void)send_frame(writer, FRAME_END, 0, span_of(NULL, 0));
  close(writer->channel);
  (void)spawn_wait(writer->pid, -1, &status);
  *writer = (struct mcp_writer){.channel = -1};
}

void mcp_writer_leave(struct mcp_writer *writer) {
  close(writer->channel);
  *writer = (struct mcp_writer){.channel = -1};
}

/* -- the process ------------------------------------------------------------------------------- */

struct looking_after {
  char *sessions[MOST_SESSIONS];
  size_t session_count;
  uint64_t written[MOST_DELIVERIES]; /* deliveries that were written completely and are not settled;
                                        0: a free place */
};

static void put_delivery(struct looking_after *looking, uint64_t old, uint64_t new) {
  for (size_t i = 0; i < MOST_DELIVERIES; i++) {
    if (looking->written[i] != old) continue;
    looking->written[i] = new;
    return;
  }
}

static bool was_written(const struct looking_after *looking, uint64_t delivery) {
  for (size_t i = 0; i < MOST_DELIVERIES; i++) {
    if (looking->written[i] == delivery) return true;
  }
  return false;
}

/* Writes a result and reports it to the wrapper. Returns 0, or an errno: nothing more can be
 * written, or the report failed. */
static int pass_result(struct looking_after *looking, const struct frame *frame,
                       const char *bytes) {
  int32_t reason = file_write_all(STDOUT_FILENO, bytes, frame->len);
  if (!reason) put_delivery(looking, 0, frame->delivery);
  /* If the wrapper has ended, the next read shows it. */
  (void)file_write_all(SPAWN_CHANNEL_FD, (const char *)&reason, sizeof reason);
  return reason;
}

/* Takes one frame from the wrapper. *ret_ends: the wrapper has settled everything. Returns 0, or an
 * errno if the wrapper was killed.
 */
static int take_frame(struct looking_after *looking, bool *ret_ends) {
  struct frame frame;
  int reason = read_exactly(SPAWN_CHANNEL_FD, &frame, sizeof frame);
  if (reason) return reason;
  char *bytes = malloc(frame.len + 1);
  if (!bytes) return ENOMEM;
  reason = read_exactly(SPAWN_CHANNEL_FD, bytes, frame.len);
  bytes[reason ? 0 : frame.len] = '\0';
  if (reason) goto out;
  switch (frame.kind) {
  case FRAME_SESSION:
    if (looking->session_count < MOST_SESSIONS) {
      looking->sessions[looking->session_count++] = bytes;
      bytes = NULL;
    }
    break;
  case FRAME_RESULT: reason = pass_result(looking, &frame, bytes); break;
  case FRAME_SETTLED: put_delivery(looking, frame.delivery, 0); break;
  default: *ret_ends = true;
  }
out:
  free(bytes);
  return reason;
}

/* Waits until the host has read everything; returns whether it has. The host may read late, because
 * it waits for the end of the pipe, which this process holds open. */
static bool wait_for_reader(void) {
  for (uint32_t pause_ms = 1; !mcp_writer_was_read(STDOUT_FILENO);
       pause_ms = pause_ms < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS) {
    if (mcp_writer_is_closed(STDOUT_FILENO)) return mcp_writer_was_read(STDOUT_FILENO);
    clock_sleep_ms(pause_ms);
  }
  return true;
}

static void settle_session(struct hostkit *kit, const struct looking_after *looking,
                           const char *session, bool was_read) {
  char mark[MCP_WRITER_MARK_SIZE];
  json_t *status = NULL;
  const json_t *lease = NULL;
  size_t i = 0;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status, NULL))
    return;
  mcp_writer_mark(getpid(), mark);
  json_array_foreach(json_object_get(status, "leased"), i, lease) {
    if (strncmp(json_value_text(lease, "call_id"), mark, strlen(mark)) != 0) continue;
    uint64_t delivery = strtoull(json_value_text(lease, "id"), NULL, 10);
    uint32_t outcome =
        was_read && was_written(looking, delivery) ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK;
    (void)kit_settle(kit, delivery, outcome, SETTLE_MS, NULL, NULL);
  }
  json_decref(status);
}

/* Settles all deliveries. If this fails because the host has ended, the next host takes over the
 * session and its leases.
 */
static void settle_all(const struct cli *cli, uint32_t owner, const struct looking_after *looking,
                       bool was_read) {
  struct hostkit *kit = NULL;
  int32_t code = TIDINGS_E_BUSY;
  int64_t until_ms = clock_mono_ms() + SETTLE_MS;
  while (code == TIDINGS_E_BUSY && clock_mono_ms() < until_ms)
    code = kit_open(cli, TIDINGS_ROLE_HOST, owner, &kit, NULL);
  if (code) return;
  for (size_t i = 0; i < looking->session_count; i++)
    settle_session(kit, looking, looking->sessions[i], was_read);
  kit_close(kit);
}

static int writer_verb(struct cli *cli) {
  struct looking_after looking = {.session_count = 0};
  uint64_t owner = 0;
  bool ends = false;
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 1, 1, "a process is");
  if (code) return code;
  if (cli_number(cli->words[0], 1, UINT32_MAX, &owner))
    return cli_usage(cli, "'%s' is not the number of a process", cli->words[0]);
  (void)signal(SIGHUP, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
  while (!ends && !take_frame(&looking, &ends)) {}
  if (!ends) {
    bool was_read = wait_for_reader();
    close(STDOUT_FILENO);
    (void)open("/dev/null", O_WRONLY); /* a file that the plugin opens must not become stdout */
    settle_all(cli, (uint32_t)owner, &looking, was_read);
  }
  for (size_t i = 0; i < looking.session_count; i++) free(looking.sessions[i]);
  return 0;
}

const struct cli_verb verb_mcp_writer = {
    .name = WRITER_VERB,
    .usage = "PID",
    .summary = "write results for 'tidings mcp', for the program itself",
    .help = "Reads from descriptor 3 what is to be written to stdout. When the other end is closed "
            "without a word, it settles what was written.",
    .with = WITH_STORE | WITH_CONFIG,
    .run = writer_verb,
};

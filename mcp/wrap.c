/* SPDX-License-Identifier: MIT
 *
 * mcp/wrap.c: one thread passes messages from the host to the server, another one from the server
 * to the host. Neither waits for the other, so a full pipe stops only one direction. A third thread
 * works on the store (keeper.h).
 */
#include "mcp/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/file.h"
#include "common/spawn.h"
#include "mcp/block.h"
#include "mcp/calls.h"
#include "mcp/keeper.h"

enum { CHUNK = 65536, LONGEST_REQUEST = 16 << 20, LONGEST_RESULT = 64 << 20 };
enum { EXIT_NO_COMMAND = 127, EXIT_BY_SIGNAL = 128 };

struct wrapper {
  const struct cli *cli;
  struct mcp_news news;
  struct mcp_keeper keeper;
  pthread_mutex_t calls_lock;
  struct mcp_calls calls;
  int to_server, from_server, over; /* over: readable once the server has ended */
  pid_t server;
  atomic_bool host_ended, used;
};

static atomic_int server_pid, stopped_by;

/* Passes a signal on, because hosts end their servers by one. */
static void pass_signal(int number) {
  int reason = errno;
  pid_t pid = (pid_t)atomic_load(&server_pid);
  atomic_store(&stopped_by, number);
  if (pid > 0) (void)kill(pid, number);
  errno = reason;
}

static void settle_soon(struct wrapper *wrapper) {
  if (mcp_news_is_to_settle(&wrapper->news)) mcp_keeper_settle(&wrapper->keeper);
}

/* -- from the host to the server --------------------------------------------------------------- */

/* Notes a line before the server gets it. *ret_session: the session of a call, to be opened after
 * the server has the line. */
static void note_line(struct wrapper *wrapper, struct tidings_span line, char **ret_session) {
  struct arena arena = ARENA_EMPTY;
  struct mcp_message message;
  if (!memmem(line.ptr, line.len, "server/discover", 15)) atomic_store(&wrapper->used, true);
  if (!memmem(line.ptr, line.len, "tools", 5) && !memmem(line.ptr, line.len, "cancelled", 9))
    return;
  if (!mcp_message_read(line, &arena, &message, NULL)) {
    pthread_mutex_lock(&wrapper->calls_lock);
    mcp_calls_note(&wrapper->calls, &message);
    pthread_mutex_unlock(&wrapper->calls_lock);
    if (message.kind == MCP_REQUEST && span_is(message.method, "tools/call")) {
      free(*ret_session);
      *ret_session = strndup(message.session.ptr ? message.session.ptr : "", message.session.len);
    }
  }
  arena_free(&arena);
}

/* Notes the complete lines in `lines`. A line that is too long for a call is skipped. */
static void note_lines(struct wrapper *wrapper, struct buffer *lines, bool *too_long,
                       char **ret_session) {
  size_t begin = 0;
  const char *end;
  while ((end = memchr(lines->bytes + begin, '\n', lines->len - begin))) {
    size_t len = (size_t)(end - lines->bytes) - begin;
    if (!*too_long) note_line(wrapper, span_of(lines->bytes + begin, len), ret_session);
    *too_long = false;
    begin += len + 1;
  }
  if (begin && begin < lines->len) memmove(lines->bytes, lines->bytes + begin, lines->len - begin);
  lines->len -= begin;
  if (lines->len > LONGEST_REQUEST) *too_long = true;
  if (*too_long) lines->len = 0;
}

/* Reads bytes from the host, and returns how many; 0: the host has closed stdin, or the server has
 * ended. */
static size_t read_host(const struct wrapper *wrapper, char *chunk) {
  for (;;) {
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = wrapper->over, .events = POLLIN}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return 0;
    if (fds[1].revents) return 0;
    if (!fds[0].revents) continue;
    ssize_t got = read(STDIN_FILENO, chunk, CHUNK);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return got > 0 ? (size_t)got : 0;
  }
}

static void *pass_requests(void *context) {
  struct wrapper *wrapper = context;
  static char chunk[CHUNK];
  struct buffer lines = BUFFER_EMPTY;
  bool too_long = false;
  size_t len;
  int reason = 0;
  while (!reason && (len = read_host(wrapper, chunk))) {
    char *session = NULL;
    buffer_append(&lines, chunk, len);
    if (!lines.failed) note_lines(wrapper, &lines, &too_long, &session);
    mcp_news_host_goes_on(&wrapper->news);
    reason = file_write_all(wrapper->to_server, chunk, len);
    settle_soon(wrapper);
    if (session && mcp_news_is_to_open(&wrapper->news, session))
      mcp_keeper_open(&wrapper->keeper, session);
    free(session);
  }
  buffer_free(&lines);
  bool server_ended = reason != 0;
  struct pollfd over = {.fd = wrapper->over, .events = POLLIN};
  if (poll(&over, 1, 0) > 0) server_ended = true;
  if (!server_ended) atomic_store(&wrapper->host_ended, true);
  close(wrapper->to_server);
  if (!server_ended) mcp_news_host_ends(&wrapper->news);
  return NULL;
}

/* -- from the server to the host --------------------------------------------------------------- */

/* Takes the call that the line answers, if a block can be added to its result. */
static bool take_call(struct wrapper *wrapper, const struct mcp_message *message,
                      struct mcp_call *ret_call) {
  if (message->kind != MCP_RESULT) return false;
  pthread_mutex_lock(&wrapper->calls_lock);
  bool found = mcp_calls_take(&wrapper->calls, &message->id, ret_call);
  pthread_mutex_unlock(&wrapper->calls_lock);
  return found;
}

/* Leases a block for a line, which includes its line break. *ret_block has no text if nothing is
 * added. */
static void look_for_block(struct wrapper *wrapper, struct tidings_span line,
                           struct mcp_message *ret_message, struct mcp_block *ret_block) {
  struct arena arena = ARENA_EMPTY;
  struct mcp_call call;
  *ret_block = (struct mcp_block){.text = NULL};
  if (!memmem(line.ptr, line.len, "\"result\"", 8)) return;
  if (!mcp_message_read(line, &arena, ret_message, NULL) &&
      take_call(wrapper, ret_message, &call)) {
    if (mcp_block_fits(&wrapper->news, ret_message))
      mcp_news_lease(&wrapper->news, call.session, call.id, call.tool, ret_block);
    mcp_call_finish(&call);
  }
  arena_free(&arena);
}

/* Must the beginning of a line be held until its end has been read? */
static bool is_held(struct wrapper *wrapper) {
  pthread_mutex_lock(&wrapper->calls_lock);
  bool any = wrapper->calls.any;
  pthread_mutex_unlock(&wrapper->calls_lock);
  return any && mcp_news_are_pending(&wrapper->news);
}

struct incoming {
  struct buffer held; /* the beginning of a line */
  bool passing;       /* the beginning of this line was written already */
};

/* Writes the complete lines in `bytes`. Returns 0 or an errno; *ret_taken: how many bytes these
 * are. */
static int pass_lines(struct wrapper *wrapper, struct incoming *incoming, struct tidings_span bytes,
                      size_t *ret_taken) {
  size_t written = 0, at = 0;
  const char *end;
  int reason = 0;
  while (!reason && (end = memchr(bytes.ptr + at, '\n', bytes.len - at))) {
    struct mcp_message message;
    struct mcp_block block = {.text = NULL};
    size_t next = (size_t)(end - bytes.ptr) + 1;
    struct tidings_span line = span_of(bytes.ptr + at, next - at);
    if (!incoming->passing) look_for_block(wrapper, line, &message, &block);
    bool looked = !incoming->passing;
    incoming->passing = false;
    if (block.text) {
      reason = file_write_all(STDOUT_FILENO, bytes.ptr + written, at - written);
      if (!reason) reason = mcp_block_write(&wrapper->news, line, &message, &block);
      else mcp_news_give_back(&wrapper->news, &block);
      written = next;
    }
    if (looked) settle_soon(wrapper);
    at = next;
  }
  if (!reason) reason = file_write_all(STDOUT_FILENO, bytes.ptr + written, at - written);
  *ret_taken = at;
  return reason;
}

/* Keeps an incomplete line if a block may be put into it; otherwise passes it on. */
static int pass_beginning(struct wrapper *wrapper, struct incoming *incoming,
                          struct tidings_span bytes) {
  if (!bytes.len) return 0;
  if (!incoming->passing && !incoming->held.len && !is_held(wrapper)) incoming->passing = true;
  if (!incoming->passing) {
    buffer_append(&incoming->held, bytes.ptr, bytes.len);
    if (!incoming->held.failed && incoming->held.len <= LONGEST_RESULT) return 0;
    incoming->passing = true;
  }
  return file_write_all(STDOUT_FILENO, bytes.ptr, bytes.len);
}

/* Passes a chunk on. If it ends the line whose beginning is held, the held bytes are sent with it.
 */
static int pass_chunk(struct wrapper *wrapper, struct incoming *incoming,
                      struct tidings_span chunk) {
  size_t taken = 0;
  int reason = 0;
  const char *end = incoming->held.len ? memchr(chunk.ptr, '\n', chunk.len) : NULL;
  if (incoming->held.len) {
    size_t len = end ? (size_t)(end - chunk.ptr) + 1 : chunk.len;
    buffer_append(&incoming->held, chunk.ptr, len);
    chunk = span_of(chunk.ptr + len, chunk.len - len);
    bool full = incoming->held.len > LONGEST_RESULT;
    if (incoming->held.failed) return ENOMEM;
    if (!end && !full) return 0;
    if (end) reason = pass_lines(wrapper, incoming, buffer_view(&incoming->held), &taken);
    else reason = file_write_all(STDOUT_FILENO, incoming->held.bytes, incoming->held.len);
    incoming->passing = !end;
    incoming->held.len = 0;
  }
  if (!reason) reason = pass_lines(wrapper, incoming, chunk, &taken);
  if (!reason)
    reason = pass_beginning(wrapper, incoming, span_of(chunk.ptr + taken, chunk.len - taken));
  return reason;
}

/* Passes answers on until the server ends, or the host stops reading. */
static void pass_answers(struct wrapper *wrapper) {
  static char chunk[CHUNK];
  struct incoming incoming = {.held = BUFFER_EMPTY};
  int reason = 0;
  while (!reason) {
    ssize_t got = read(wrapper->from_server, chunk, CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    reason = pass_chunk(wrapper, &incoming, span_of(chunk, (size_t)got));
  }
  if (!reason) (void)file_write_all(STDOUT_FILENO, incoming.held.bytes, incoming.held.len);
  buffer_free(&incoming.held);
}

/* -- together ---------------------------------------------------------------------------------- */

const char *mcp_wrap_name(char *const *argv) {
  static const char *const launchers[] = {
      "npx", "npm",  "exec", "node", "deno", "bunx",   "bun",     "uvx",  "uv",  "run",
      "env", "tool", "x",    "sh",   "bash", "python", "python3", "pnpm", "dlx", "pipx"};
  const char *name = argv[0];
  for (size_t i = 0; argv[i]; i++) {
    const char *slash = strrchr(argv[i], '/'), *file = slash ? slash + 1 : argv[i];
    bool is_launcher = argv[i][0] == '-' || strchr(file, '=');
    for (size_t j = 0; j < sizeof launchers / sizeof *launchers; j++)
      is_launcher = is_launcher || strcmp(file, launchers[j]) == 0;
    if (i == 0 || !is_launcher) name = file;
    if (!is_launcher) break;
  }
  return name;
}

static int start_server(struct wrapper *wrapper, char *const *argv) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC)) return errno;
  if (pipe2(out, O_CLOEXEC)) {
    int reason = errno;
    close(in[0]);
    close(in[1]);
    return reason;
  }
  const struct spawn spawn = {.argv = (const char *const *)argv,
                              .in = in[0],
                              .out = out[1],
                              .pipe_signal = !wrapper->cli->pipe_signal_ignored};
  int reason = spawn_start(&spawn, &wrapper->server);
  close(in[0]);
  close(out[1]);
  wrapper->to_server = in[1];
  wrapper->from_server = out[0];
  if (!reason) return 0;
  close(in[1]);
  close(out[0]);
  return reason;
}

static void pass_signals(const struct wrapper *wrapper) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  struct sigaction action = {.sa_handler = pass_signal, .sa_flags = SA_RESTART};
  atomic_store(&server_pid, (int)wrapper->server);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    (void)sigaction(numbers[i], &action, NULL);
}

/* Did the server end without the host having ended it? */
static bool ended_by_itself(const struct wrapper *wrapper) {
  return atomic_load(&wrapper->used) && !atomic_load(&wrapper->host_ended) &&
         !atomic_load(&stopped_by) && !mcp_writer_is_closed(STDOUT_FILENO);
}

static int wait_for_server(struct wrapper *wrapper, const char *name) {
  const uint64_t one = 1;
  int status = 0;
  (void)spawn_wait(wrapper->server, -1, &status);
  bool by_itself = ended_by_itself(wrapper);
  atomic_store(&server_pid, 0);
  (void)!write(wrapper->over, &one, sizeof one);
  if (by_itself) mcp_news_server_ended(&wrapper->news, name);
  return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int mcp_wrap(const struct cli *cli, const char *name, char *const *argv) {
  static struct wrapper wrapper;
  pthread_t requests;
  wrapper.cli = cli;
  (void)pthread_mutex_init(&wrapper.calls_lock, NULL);
  wrapper.over = eventfd(0, EFD_CLOEXEC);
  if (wrapper.over < 0) return cli_fail(cli, "no descriptor: %s", strerror(errno));
  int reason = start_server(&wrapper, argv);
  if (reason) {
    (void)cli_fail(cli, "cannot run %s: %s", argv[0], strerror(reason));
    return EXIT_NO_COMMAND;
  }
  mcp_news_begin(cli, &wrapper.news);
  pass_signals(&wrapper);
  reason = mcp_keeper_begin(&wrapper.news, &wrapper.keeper);
  if (!reason) reason = pthread_create(&requests, NULL, pass_requests, &wrapper);
  if (reason) {
    (void)spawn_kill(wrapper.server);
    return cli_fail(cli, "no thread: %s", strerror(reason));
  }
  pass_answers(&wrapper);
  close(wrapper.from_server);
  int code = wait_for_server(&wrapper, name ? name : mcp_wrap_name(argv));
  (void)pthread_join(requests, NULL);
  mcp_keeper_end(&wrapper.keeper);
  mcp_news_end(&wrapper.news);
  mcp_calls_finish(&wrapper.calls);
  close(wrapper.over);
  return code;
}

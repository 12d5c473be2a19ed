/* SPDX-License-Identifier: MIT
 *
 * kit.h: functions for the tests of the turn queue's invariants. Each test is a program, named
 * after its invariant, that plays host, sources and observers with the real plugin, in one process,
 * in several threads, or in several processes. Events and replies are JSON. Any mistake ends the
 * test with a sentence.
 */
#ifndef TURNS_KIT_H
#define TURNS_KIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tidings/hostkit.h>

/* Each test defines the invariant, as a sentence, and the function that tests it. The session is
 * always "s". */
extern const char invariant[];
void test(void);

/* Ends this process, and so the test. */
_Noreturn void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define fail(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define check(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) fail(__VA_ARGS__);                                                           \
  } while (0)
#define same(got, expected) same_at(__FILE__, __LINE__, got, expected)
void same_at(const char *file, int line, const char *got, const char *expected);

/* printf into memory that lives until the process ends. Any thread. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -- whoever has the store open ---------------------------------------------------------------- */

struct client {
  struct hostkit *hostkit;
};
/* The store's folder, new for each test. A test may set another one for later opens. */
extern const char *store_folder;
struct client open_host(const char *configuration); /* a host that has opened the session */
struct client open_unattached(const char *configuration);
struct client open_producer(void);
void close_client(struct client client);

/* The wall clock that plugins in this process see. It stands still unless it is moved. */
void set_clock(int64_t now_ms);

/* -- calls. Replies are in their JSON form and live until the process ends. Any thread. -------- */

/* Sends an event of `type`; `data` is a JSON object as by printf, or NULL. It must be accepted. */
json_t *event(struct client client, const char *type, const char *data, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, but the event must be refused. Returns the error's name without TIDINGS_E_. */
const char *refused(struct client client, const char *type, const char *data, ...)
    __attribute__((format(printf, 3, 4)));
json_t *submit(struct client client, const char *id);
json_t *finish(struct client client);
/* Sends a chat request that starts the turn offered in `reply`, with exactly its messages, and
 * commits it. */
json_t *start(struct client client, const json_t *reply);
json_t *tool_result(struct client client); /* committed */
json_t *query(struct client client, const char *name);

/* -- what replies say -------------------------------------------------------------------------- */

/* Returns the ids of the turn that `reply` offers, "a b c"; "": none. More than one turn ends the
 * test. */
const char *offered(const json_t *reply);
json_t *offered_message(const json_t *reply, size_t index);
bool aborts(const json_t *reply);
const char *state(struct client client);   /* by query */
const char *running(struct client client); /* the ids of the offered or running turn, by query */
const char *ids_in(const json_t *list);    /* of a list of ids, or of objects with an id: "a b c" */

/* Runs and ends turn after turn, beginning with the one that `reply` offers, until none is offered.
 * Returns the ids in the order in which they fired, turn after turn: "a b|c". */
const char *drain(struct client host, const json_t *reply);

/* Returns the last state of message `id` in the session's history, such as "fired"; NULL if the
 * history does not name it. */
const char *end_of(struct client client, const char *id);

/* -- several at once --------------------------------------------------------------------------- */

/* Runs `work` in threads at the same instant; returns when all have ended. */
void at_once(unsigned count, void (*work)(unsigned index));

/* Starts processes that wait until crew_go, then run `work` at the same instant and end. Call it
 * before anything is opened here. */
enum { CREW_MAX = 16 };
struct crew {
  unsigned count;
  int gate;
  pid_t pids[CREW_MAX];
};
struct crew crew_start(unsigned count, void (*work)(unsigned index));
void crew_go(struct crew *crew);
void crew_wait(struct crew *crew); /* each must have ended well */

/* Runs `work` in another process, which must succeed, or die by SIGKILL in `dying`. No threads may
 * run here then. */
void in_another_process(void (*work)(const char *argument), const char *argument);
_Noreturn void dying(void);

#endif

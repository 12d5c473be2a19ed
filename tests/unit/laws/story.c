/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/story.c: random pushes, deliveries and ends of leases, and what a host's
 * transcript has after each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/buffer.h"
#include "leases.h"

static size_t below(struct story *story, size_t end) { return random_below(&story->random, end); }

static bool send_to(struct story *story, const char *session, enum who who, const char *type,
                    const char *data) {
  struct tidings_error error = new_error();
  if (story->tells) (void)fprintf(stderr, "%s %d %s %s\n", session, (int)who, type, data);
  int code = event(hosts_as(story->hosts, who), &error,
                   "{\"type\":\"%s\",\"session\":\"%s\",\"data\":%s}", type, session, data);
  if (story->tells && code) (void)fprintf(stderr, "  %d %s\n", code, error.text);
  return code == 0;
}

static bool send_event(struct story *story, enum who who, const char *type, const char *data) {
  return send_to(story, story->session, who, type, data);
}

/* -- pushes ------------------------------------------------------------------------------------ */

static const char *push_text(struct story *story, struct pushed *pushed, char *data, size_t size) {
  static const char *const states[] = {"waiting", "stopped", "failed", "running"},
                           *const servers[] = {"disconnected", "unresponsive", "reconnected"},
                           *const changes[] = {"modified", "created", "deleted", "renamed"};
  int thing = pushed->things[0];
  const char *level = pushed->critical ? ",\"level\":\"critical\"" : "";
  switch (pushed->subject) {
  case ABOUT_KEY:
    (void)snprintf(data, size, "{\"kind\":\"%s.n\",\"message\":\"news %zu\",\"key\":\"k%d\"%s%s}",
                   thing & 1 ? "ci" : "db", story->pushed_count, thing / 2, level,
                   below(story, 8) ? "" : ",\"activation\":\"idle\"");
    return "notification";
  case ABOUT_HANDLE:
    (void)snprintf(data, size, "{\"handle\":\"h%d\",\"tool\":\"make\",\"state\":\"%s\"%s}", thing,
                   states[below(story, 3)], level);
    return "handle.state";
  case ABOUT_SERVER:
    (void)snprintf(data, size, "{\"server\":\"s%d\",\"state\":\"%s\"%s}", thing,
                   servers[below(story, 3)], level);
    return "mcp.state";
  default:
    if (pushed->thing_count == 2)
      (void)snprintf(data, size, "{\"paths\":[\"f%d\",\"f%d\"],\"change\":\"%s\"}", thing,
                     pushed->things[1], changes[below(story, 4)]);
    else
      (void)snprintf(data, size, "{\"path\":\"f%d\",\"change\":\"%s\"}", thing,
                     changes[below(story, 4)]);
    return "file.changed";
  }
}

static void push_one(struct story *story) {
  struct pushed *pushed = &story->pushed[story->pushed_count];
  char data[256];
  if (story->pushed_count == MOST_PUSHED) return;
  *pushed = (struct pushed){.time_ms = atomic_fetch_add(&kit_now_ms, 1) + 1,
                            .subject = (enum subject)below(story, 4),
                            .things = {(int)below(story, 3)},
                            .thing_count = 1,
                            .critical = !below(story, 12)};
  if (pushed->subject == ABOUT_FILES) pushed->critical = false;
  if (pushed->subject == ABOUT_FILES && !below(story, 4)) {
    pushed->things[1] = (pushed->things[0] + 1) % 3;
    pushed->thing_count = 2;
  }
  const char *type = push_text(story, pushed, data, sizeof data);
  const char *session = below(story, 4) ? story->session : story->box;
  cr_assert(send_to(story, session, story->owner, type, data), "round %ld: a push", story->number);
  story->pushed_count++;
}

/* -- carriers ---------------------------------------------------------------------------------- */

/* Finds the pushed notification of a shown one. A line about several files belongs to none of them
 * alone. */
static int find_pushed(const struct story *story, const struct tidings_notification *shown) {
  for (size_t i = 0; shown->count == 1 && i < story->pushed_count; i++)
    if (story->pushed[i].time_ms == shown->time_ms) return (int)i;
  return -1;
}

static void note_carrier(struct story *story, const struct tidings_reply *reply) {
  struct sent *sent = &story->sent[story->sent_count];
  *sent = (struct sent){.delivery = reply->delivery_id,
                        .state = reply->delivery_id ? CARRIER_WAITS : CARRIER_THERE};
  for (size_t c = 0; c < story->sent_count; c++)
    if (story->sent[c].state != CARRIER_LOST) sent->before |= UINT64_C(1) << c;
  for (size_t i = 0; i < reply->notification_count; i++) {
    int pushed = find_pushed(story, reply->notifications[i]);
    if (pushed >= 0) {
      cr_assert_lt(sent->shown_count, MOST_SHOWN);
      sent->shown[sent->shown_count++] = pushed;
    }
    if (story->tells)
      (void)fprintf(stderr, "  carrier %zu (%llu): %d %.*s\n", story->sent_count,
                    (unsigned long long)sent->delivery, pushed,
                    SPAN_FORMAT(reply->notifications[i]->text));
  }
  story->sent_count++;
  story->carriers++;
}

static bool send_carrier(struct story *story, enum who who, uint64_t room) {
  struct tidings_plugin *plugin = hosts_as(story->hosts, who);
  struct tidings_error error = new_error();
  const struct tidings_reply *reply = NULL;
  bool any = false;
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text(story->session),
                                             .call_id = span_text("c"),
                                             .room_bytes = room};
  if (story->sent_count == MOST_CARRIERS) return false;
  int code = plugin->on_tool_result(plugin, &result, &reply, &error);
  cr_assert_eq(code, 0, "round %ld: %d %s", story->number, code, error.text);
  if (reply && reply->notification_count) {
    note_carrier(story, reply);
    any = true;
  }
  plugin->release(plugin, reply);
  return any;
}

static void settle_one(struct story *story, size_t c, bool commit) {
  struct sent *sent = &story->sent[c];
  struct tidings_error error = new_error();
  if (sent->state != CARRIER_WAITS) return;
  if (story->tells) (void)fprintf(stderr, "settle %zu: %s\n", c, commit ? "there" : "lost");
  int code = settle_as(hosts_as(story->hosts, story->owner), sent->delivery,
                       commit ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK, &error);
  cr_assert_eq(code, 0, "round %ld: %d %s", story->number, code, error.text);
  sent->state = commit ? CARRIER_THERE : CARRIER_LOST;
  story->ways[commit ? BY_COMMIT : BY_ROLLBACK]++;
}

/* -- other ends -------------------------------------------------------------------------------- */

/* Makes the data of an event that names a random part of the carriers, or the first few. Only a
 * rewind names lost ones. */
static uint64_t name_some(struct story *story, const char *more, bool rewinds,
                          struct buffer *data) {
  uint64_t mask = random_next(&story->random), named = 0;
  if (below(story, 2)) mask = (UINT64_C(1) << below(story, story->sent_count + 1)) - 1;
  buffer_format(data, "{%s\"deliveries\":[", more);
  for (size_t c = 0; c < story->sent_count; c++) {
    bool lost = story->sent[c].state == CARRIER_LOST;
    if (!story->sent[c].delivery || !(mask >> c & 1) || (lost && !rewinds)) continue;
    buffer_format(data, "%s\"%llu\"", named ? "," : "",
                  (unsigned long long)story->sent[c].delivery);
    named |= UINT64_C(1) << c;
  }
  buffer_text(data, "]}");
  buffer_byte(data, '\0');
  return named;
}

static void resolve(struct story *story, uint64_t named, bool rewinds, enum way way) {
  for (size_t c = 0; c < story->sent_count; c++) {
    struct sent *sent = &story->sent[c];
    if (!sent->delivery || (sent->state != CARRIER_WAITS && !rewinds)) continue;
    story->ways[way] += sent->state == CARRIER_WAITS || sent->state == CARRIER_THERE;
    sent->state = named >> c & 1 ? CARRIER_THERE : CARRIER_LOST;
  }
}

static void rewind_transcript(struct story *story) {
  struct buffer data = BUFFER_EMPTY;
  (void)send_event(story, story->owner, "turn.finished", "{}");
  uint64_t named = name_some(story, "", true, &data);
  if (send_event(story, story->owner, "session.rewound", data.bytes))
    resolve(story, named, true, BY_REWIND);
  buffer_free(&data);
}

static void resume(struct story *story, enum who who, const char *more, enum way way) {
  struct buffer data = BUFFER_EMPTY;
  uint64_t named = name_some(story, more, false, &data);
  cr_assert(send_event(story, who, "session.resumed", data.bytes), "round %ld: resume",
            story->number);
  resolve(story, named, false, way);
  story->owner = who;
  buffer_free(&data);
}

static void change_hosts(struct story *story) {
  if (story->owner == HOST_HERE) {
    resume(story, HOST_ELSEWHERE, "\"takeover\":true,", BY_TAKEOVER);
  } else if (below(story, 2)) {
    hosts_replace(story->hosts);
    if (below(story, 2)) {
      resume(story, HOST_HERE, "", BY_DEATH);
      return;
    }
    cr_assert(send_event(story, HOST_HERE, "session.opened", "{}"));
    resolve(story, 0, false, BY_DEATH);
    story->owner = HOST_HERE;
  } else {
    resume(story, HOST_HERE, "\"takeover\":true,", BY_TAKEOVER);
  }
}

/* A command continues: reports that it waits are withdrawn, also from deliveries. */
static void run_on(struct story *story, size_t handle) {
  char data[64];
  (void)snprintf(data, sizeof data, "{\"handle\":\"h%zu\",\"tool\":\"make\",\"state\":\"running\"}",
                 handle);
  (void)send_event(story, story->owner, "handle.state", data);
}

/* Notifications of the box may be older than those that the session has. */
static void collect(struct story *story) {
  char data[96];
  (void)snprintf(data, sizeof data, "{\"from\":[\"%s\"]}", story->box);
  cr_assert(send_event(story, story->owner, "session.collected", data), "round %ld: collect",
            story->number);
  story->ways[BY_COLLECTING]++;
}

/* The story goes on in the child, whose transcript has some of what waits in the parent. The child
 * does not know what its parent has delivered, so the box is emptied before. */
static void fork_off(struct story *story) {
  char data[96], child[sizeof story->session];
  collect(story);
  if (below(story, 2)) run_on(story, below(story, 3));
  (void)snprintf(child, sizeof child, "story-%ld-%u", story->number, ++story->forks);
  (void)snprintf(data, sizeof data, "{\"child\":\"%s\"}", child);
  cr_assert(send_event(story, story->owner, "session.forked", data));
  (void)snprintf(story->session, sizeof story->session, "%s", child);
  /* The child's host knows no ids of items that had ended before. */
  for (size_t c = 0; c < story->sent_count; c++)
    if (story->sent[c].state != CARRIER_WAITS) story->sent[c].delivery = 0;
  resume(story, HOST_HERE, "", BY_FORK);
  /* If the child's transcript lacks a delivery now, it lacks it for ever. */
  for (size_t c = 0; c < story->sent_count; c++)
    if (story->sent[c].state == CARRIER_LOST) story->sent[c].delivery = 0;
}

/* -- the story --------------------------------------------------------------------------------- */

static void step(struct story *story) {
  size_t choice = below(story, 32);
  char data[48];
  if (choice < 14) {
    push_one(story);
  } else if (choice < 21) {
    bool on_return = story->owner == HOST_HERE && !below(story, 8);
    uint64_t room = below(story, 4) ? 0 : 300 + below(story, 1000);
    (void)send_carrier(story, on_return ? HOST_ON_RETURN : story->owner, room);
  } else if (choice < 26) {
    if (story->sent_count) settle_one(story, below(story, story->sent_count), below(story, 2));
  } else if (choice < 28) {
    rewind_transcript(story);
  } else if (choice == 28) {
    resume(story, story->owner, "", BY_RESUMING);
  } else if (choice == 29) {
    if (!below(story, 3)) change_hosts(story);
    else collect(story);
  } else if (choice == 30) {
    bool polls = below(story, 2);
    (void)snprintf(data, sizeof data, "{\"handle\":\"h%zu\"%s}", below(story, 3),
                   polls ? "" : ",\"tool\":\"make\",\"state\":\"running\"");
    (void)send_event(story, story->owner, polls ? "handle.polled" : "handle.state", data);
  } else if (below(story, 2)) {
    fork_off(story);
  } else {
    (void)send_event(story, story->owner, "session.compacting", "{}");
    (void)send_event(story, story->owner, "session.compacted", "{}");
  }
}

/* Settles all carriers as written, and delivers everything pending. False: there is too much of
 * it. */
static bool deliver_all(struct story *story) {
  collect(story);
  for (size_t c = 0; c < story->sent_count; c++) settle_one(story, c, true);
  while (story->sent_count < MOST_CARRIERS) {
    if (!send_carrier(story, story->owner, 0)) return true;
    settle_one(story, story->sent_count - 1, true);
  }
  return false;
}

void story_play(struct story *story, long number, struct hosts *hosts) {
  *story = (struct story){.number = number,
                          .random = {(uint64_t)number + 1000},
                          .hosts = hosts,
                          .tells = getenv("TIDINGS_LEASES_ROUND") != NULL};
  size_t steps = 10 + below(story, 90);
  (void)snprintf(story->session, sizeof story->session, "story-%ld", number);
  (void)snprintf(story->box, sizeof story->box, "box-%ld", number);
  cr_assert(send_event(story, HOST_HERE, "session.opened", "{}"));
  for (size_t i = 0; i < steps && story->sent_count < MOST_CARRIERS - 16; i++) {
    step(story);
    law_newest_stands(story);
  }
  bool all = deliver_all(story);
  law_newest_stands(story);
  if (!hosts->loses && all) law_newest_is_shown(story);
  (void)send_event(story, story->owner, "turn.finished", "{}");
  (void)send_event(story, story->owner, "session.closed", "{}");
}

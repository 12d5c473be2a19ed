/* SPDX-License-Identifier: MIT
 *
 * The host is killed with messages queued, moved, edited, cancelled, steering, offered and half
 * sent. Only the data file is moved to a new folder, without lock file, shared file and FIFOs; a
 * new host there finds the same queue.
 */
#include "kit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char invariant[] = "The queue holds no state the persisted-message store does not; it is "
                         "recoverable from the messages alone.";

static void queue_and_die(const char *unused) {
  (void)unused;
  struct client host = open_host(NULL);
  start(host, submit(host, "ran"));
  submit(host, "a");
  submit(host, "b");
  submit(host, "c");
  submit(host, "d");
  event(host, "message.submitted", "{\"id\":\"e\",\"content\":\"x\",\"delivery\":\"steer\"}");
  event(host, "message.moved", "{\"id\":\"d\",\"before\":\"b\"}");
  event(host, "message.edited", "{\"id\":\"c\",\"content\":\"other words\"}");
  event(host, "message.cancelled", "{\"id\":\"b\"}");
  same(offered(finish(host)), "a");
  dying();
}

static void copy_database(const char *from, const char *to) {
  static char buffer[65536];
  check(mkdir(to, 0700) == 0, "mkdir %s", to);
  int in = open(text("%s/data.mdb", from), O_RDONLY | O_CLOEXEC);
  int out = open(text("%s/data.mdb", to), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  check(in >= 0 && out >= 0, "the database cannot be copied");
  for (ssize_t got; (got = read(in, buffer, sizeof buffer)) > 0;)
    check(write(out, buffer, (size_t)got) == got, "write");
  close(in);
  close(out);
}

void test(void) {
  in_another_process(queue_and_die, NULL);
  const char *alone = text("%s.alone", store_folder);
  copy_database(store_folder, alone);
  store_folder = alone;
  struct client host = open_unattached(NULL);
  json_t *reply = event(host, "session.opened", NULL);
  same(ids_in(json_object_get(json_object_get(reply, "status"), "orphaned")), "");
  same(offered(reply), "a");
  start(host, reply);
  reply = finish(host);
  same(offered(reply), "d");
  start(host, reply);
  reply = finish(host);
  same(offered(reply), "c");
  same(json_string_value(json_object_get(offered_message(reply, 0), "content")), "other words");
  start(host, reply);
  same(drain(host, finish(host)), "e");
  close_client(host);
}

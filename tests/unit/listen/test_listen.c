/* SPDX-License-Identifier: MIT
 *
 * test_listen.c: tests what `tidings listen` decides without a network: digests, signatures, and
 * the judgement of a request's first lines.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sha256.h"
#include "listen/base64.h"
#include "listen/judge.h"
#include "listen/peers.h"
#include "listen/room.h"
#include "listen/signature.h"

static void check_digest(const unsigned char *digest, const char *wanted) {
  char hex[2 * SHA256_BYTES + 1];
  for (size_t i = 0; i < SHA256_BYTES; i++)
    snprintf(hex + 2 * i, sizeof hex - 2 * i, "%02x", digest[i]);
  cr_expect_str_eq(hex, wanted, "got %s, expected %s", hex, wanted);
}

static void check_sha(const char *text, size_t repeat, const char *wanted) {
  struct sha256 sha;
  unsigned char digest[SHA256_BYTES];
  sha256_begin(&sha);
  for (size_t i = 0; i < repeat; i++) sha256_add(&sha, span_text(text));
  sha256_end(&sha, digest);
  check_digest(digest, wanted);
}

/* The examples of FIPS 180-4. */
Test(listen, sha256) {
  check_sha("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check_sha("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  check_sha("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Test cases 1, 2 and 6 of RFC 4231. */
Test(listen, hmac) {
  unsigned char mac[SHA256_BYTES];
  char key[131];
  struct tidings_span parts[2] = {span_text("Hi "), span_text("There")};
  memset(key, 0x0b, 20);
  sha256_hmac(span_of(key, 20), parts, 2, mac);
  check_digest(mac, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  parts[0] = span_text("what do ya want for nothing?");
  sha256_hmac(span_text("Jefe"), parts, 1, mac);
  check_digest(mac, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  parts[0] = span_text("Test Using Larger Than Block-Size Key - Hash Key First");
  memset(key, 0xaa, sizeof key);
  sha256_hmac(span_of(key, sizeof key), parts, 1, mac);
  check_digest(mac, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

Test(listen, base64) {
  static const struct {
    const char *text, *bytes;
  } rows[] = {{"", ""},        {"Zg==", "f"},         {"Zg", "f"}, {"Zm8=", "fo"},
              {"Zm9v", "foo"}, {"Zm9vYmE=", "fooba"}, {"Z", ""},   {"Zm9v!", ""},
              {"Zm=v", ""},    {"Zg===", ""}};
  unsigned char bytes[BASE64_MOST];
  char large[1024];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t len = base64_read(span_text(rows[i].text), bytes);
    cr_expect(len == strlen(rows[i].bytes) && memcmp(bytes, rows[i].bytes, len) == 0, "%s: %zu",
              rows[i].text, len);
  }
  memset(large, 'A', sizeof large);
  cr_expect_eq(base64_read(span_of(large, sizeof large), bytes), 0);
  cr_expect_leq(base64_read(span_of(large, 680), bytes), (size_t)BASE64_MOST);
}

/* -- signatures -------------------------------------------------------------------------------- */

static const char *refusal(int scheme, const char *secret, const char *name, const char *value,
                           const char *body) {
  const struct recipe_header headers[] = {{span_text(name), span_text(value)}};
  const struct recipe_document request = {.headers = headers, .header_count = 1};
  const struct signature_secrets secrets = {
      .secrets = {span_text("another secret"), span_text(secret)}, .count = 2};
  return signature_refusal((enum signature_scheme)scheme, &secrets, &request, span_text(body),
                           1700000000);
}

/* The example of GitHub's documentation. */
Test(listen, github) {
  static const char secret[] = "It's a Secret to Everybody", body[] = "Hello, World!",
                    right[] = "sha256="
                              "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  static const char name[] = "x-hub-signature-256";
  cr_expect_null(refusal(SIGNATURE_GITHUB, secret, name, right, body));
  cr_expect_str_eq(refusal(SIGNATURE_GITHUB, secret, name, right, "Hello, World?"),
                   "the signature is wrong");
  cr_expect_str_eq(refusal(SIGNATURE_GITHUB, "some other secret", name, right, body),
                   "the signature is wrong");
  cr_expect_str_eq(refusal(SIGNATURE_GITHUB, secret, name, right + 7, body),
                   "the signature is wrong");
  cr_expect_str_eq(refusal(SIGNATURE_GITHUB, secret, "x-hub-signature", right, body),
                   "the signature is missing");
}

Test(listen, tokens) {
  static const char name[] = "authorization";
  cr_expect_null(refusal(SIGNATURE_BEARER, "a long token", name, "Bearer a long token", ""));
  cr_expect_null(refusal(SIGNATURE_BEARER, "pass:word", name, "Basic dXNlcjpwYXNzOndvcmQ=", ""));
  cr_expect_null(refusal(SIGNATURE_BEARER, "a long token", name, "bearer a long token", ""));
  cr_expect_null(refusal(SIGNATURE_BEARER, "pass:word", name, "BASIC dXNlcjpwYXNzOndvcmQ=", ""));
  cr_expect(refusal(SIGNATURE_BEARER, "a long token", name, "Bearer a long toke", ""));
  cr_expect(refusal(SIGNATURE_BEARER, "a long token", name, "Bearer ", ""));
  cr_expect(refusal(SIGNATURE_BEARER, "a long token", name, "Basic bm8gY29sb24=", ""));
  cr_expect(refusal(SIGNATURE_BEARER, "a long token", name, "a long token", ""));
  cr_expect_null(refusal(SIGNATURE_GITLAB, "a long token", "x-gitlab-token", "a long token", ""));
  cr_expect(refusal(SIGNATURE_GITLAB, "a long token", "x-gitlab-token", "A long token", ""));
  /* Everybody may know a public key. */
  static const char key[] = "whpk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  cr_expect(refusal(SIGNATURE_GITLAB, key, "x-gitlab-token", key, ""));
}

/* A secret that is no key of the scheme must not count as the empty key, which everybody knows. */
Test(listen, empty_key) {
  const struct tidings_span body = span_text("{}");
  const struct tidings_span parts[] = {span_text("m1"), span_text("."), span_text("1700000000"),
                                       span_text("."), body};
  unsigned char mac[SHA256_BYTES];
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char signature[64] = "v1,";
  sha256_hmac(span_of(NULL, 0), parts, 5, mac);
  size_t at = 3;
  for (size_t i = 0; i < 30; i += 3) {
    unsigned word = (unsigned)mac[i] << 16 | (unsigned)mac[i + 1] << 8 | mac[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) signature[at++] = digits[word >> shift & 63];
  }
  unsigned word = (unsigned)mac[30] << 16 | (unsigned)mac[31] << 8;
  for (int shift = 18; shift > 0; shift -= 6) signature[at++] = digits[word >> shift & 63];
  const struct recipe_header headers[] = {{span_text("webhook-id"), span_text("m1")},
                                          {span_text("webhook-timestamp"), parts[2]},
                                          {span_text("webhook-signature"), span_text(signature)}};
  const struct recipe_document request = {.headers = headers, .header_count = 3};
  const struct signature_secrets secrets = {.secrets = {span_text("not base64!")}, .count = 1};
  cr_expect_str_eq(signature_refusal(SIGNATURE_GITLAB, &secrets, &request, body, 1700000000),
                   "the signature is wrong");
}

Test(listen, secrets) {
  cr_expect_null(signature_secret_mistake(SIGNATURE_GITHUB, span_text("12345678")));
  cr_expect(signature_secret_mistake(SIGNATURE_GITHUB, span_text("1234567")));
  cr_expect_null(signature_secret_mistake(SIGNATURE_STANDARD,
                                          span_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")));
  cr_expect(signature_secret_mistake(SIGNATURE_STANDARD, span_text("whsec_not base64 at all")));
  cr_expect(signature_secret_mistake(SIGNATURE_STANDARD, span_text("whsec_c2hvcnQ=")));
}

/* -- the head of a request --------------------------------------------------------------------- */

static struct judge_request good(void) {
  return (struct judge_request){.method = span_text("POST"),
                                .content_type = span_text("application/json"),
                                .header_count = 5,
                                .header_bytes = 200,
                                .host_listed = true,
                                .route = true,
                                .max_bytes = 100,
                                .has_length = true,
                                .length = 100};
}

static void check(struct judge_request request, enum judge_step step, unsigned status) {
  struct verdict verdict = judge(&request);
  cr_expect(verdict.step == step && verdict.status == status, "%d %u, expected %d %u",
            (int)verdict.step, verdict.status, (int)step, status);
  cr_expect_eq(step == JUDGE_REFUSE, verdict.reason != NULL);
}

#define CHECK(step, status, ...)                                                                   \
  do {                                                                                             \
    struct judge_request with = good();                                                            \
    __VA_ARGS__;                                                                                   \
    check(with, step, status);                                                                     \
  } while (0)

Test(listen, heads) {
  CHECK(JUDGE_READ_BODY, 0, );
  CHECK(JUDGE_READ_BODY, 0, with.has_length = false; with.length = 0; with.chunked = true);
  CHECK(JUDGE_REFUSE, 400, with.chunked = true);
  CHECK(JUDGE_REFUSE, 411, with.has_length = false; with.length = 0);
  CHECK(JUDGE_REFUSE, 413, with.length = 101);
  CHECK(JUDGE_REFUSE, 413, with.length = UINT64_MAX);
  CHECK(JUDGE_REFUSE, 415, with.content_type = span_text("text/plain"));
  CHECK(JUDGE_REFUSE, 415, with.content_type = span_text(""));
  CHECK(JUDGE_REFUSE, 405, with.method = span_text("GET"));
  CHECK(JUDGE_REFUSE, 405, with.method = span_text("OPTIONS"));
  CHECK(JUDGE_REFUSE, 405, with.method = span_text("OPTIONS"); with.cloudevents = true);
  CHECK(JUDGE_HANDSHAKE, 0, with.method = span_text("OPTIONS"); with.cloudevents = true;
        with.origin = span_text("e.example"));
  CHECK(JUDGE_REFUSE, 405, with.method = span_text("OPTIONS");
        with.origin = span_text("e.example"));
  CHECK(JUDGE_REFUSE, 404, with.route = false);
  CHECK(JUDGE_REFUSE, 421, with.host_listed = false; with.route = false);
  CHECK(JUDGE_REFUSE, 421, with.host_listed = false; with.health = true);
  CHECK(JUDGE_REFUSE, 400, with.malformed = true; with.health = true);
  CHECK(JUDGE_REFUSE, 431, with.header_count = JUDGE_MOST_HEADERS + 1);
  CHECK(JUDGE_REFUSE, 431, with.header_bytes = JUDGE_MOST_HEADER_BYTES + 1);
  CHECK(JUDGE_HEALTH, 0, with.health = true; with.route = false; with.method = span_text("GET"));
  CHECK(JUDGE_HEALTH, 0, with.health = true; with.route = false; with.method = span_text("HEAD"));
  CHECK(JUDGE_REFUSE, 405, with.health = true; with.route = false);
  CHECK(JUDGE_REFUSE, 503, with.stopping = true);
}

Test(listen, types) {
  static const char *const json[] = {"application/json", "application/json; charset=utf-8",
                                     "APPLICATION/JSON", "application/cloudevents+json",
                                     "application/cloudevents-batch+json;charset=UTF-8"};
  static const char *const others[] = {"",
                                       "json",
                                       "text/json",
                                       "application/jsonx",
                                       "application/x-www-form-urlencoded",
                                       "application/ json"};
  for (size_t i = 0; i < sizeof json / sizeof *json; i++)
    cr_expect(judge_is_json(span_text(json[i])), "%s", json[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_expect_not(judge_is_json(span_text(others[i])), "%s", others[i]);
}

/* -- slow peers -------------------------------------------------------------------------------- */

/* Makes a connection that now begins a phase. *ret_there: the peer's end. */
static struct peer *connect_peer(struct peers *peers, enum peer_phase phase, int *ret_here,
                                 int *ret_there) {
  int ends[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  struct peer *peer = peers_add(peers, ends[0], NULL);
  cr_assert(peer);
  peers_enter(peers, peer, phase);
  *ret_here = ends[0];
  *ret_there = ends[1];
  return peer;
}

/* Checks when a phase is too slow, with times that are handed in instead of waited for. */
static void check_slow(enum peer_phase phase, int64_t most_ms) {
  struct peers *peers = peers_make();
  char answer[128] = "";
  int here, there;
  bool crowd = true;
  struct peer *peer = connect_peer(peers, phase, &here, &there);
  int64_t now_ms = clock_mono_ms();
  cr_expect_eq(peers_end_slow(peers, now_ms + most_ms - 1000, &crowd), 0);
  cr_expect_not(crowd);
  cr_expect_eq(recv(there, answer, sizeof answer - 1, MSG_DONTWAIT), -1, "it may go on");
  cr_expect_eq(peers_end_slow(peers, now_ms + most_ms, &crowd), most_ms < INT32_MAX);
  if (most_ms < INT32_MAX) {
    cr_expect_gt(recv(there, answer, sizeof answer - 1, 0), 0);
    cr_expect_eq(strncmp(answer, "HTTP/1.1 408 ", 13), 0, "%s", answer);
    cr_expect_eq(recv(there, answer, sizeof answer - 1, 0), 0, "the connection is shut down");
    cr_expect_eq(peers_end_slow(peers, now_ms + 2 * most_ms, &crowd), 0, "once");
  }
  peers_remove(peers, peer);
  peers_free(peers);
  close(here);
  close(there);
}

/* A proxy would take an answer for that of its next request. */
Test(listen, idle_peers) {
  struct peers *peers = peers_make();
  char answer[128];
  int here, there;
  bool crowd;
  struct peer *peer = connect_peer(peers, PEER_WAITS, &here, &there);
  int64_t now_ms = clock_mono_ms();
  cr_expect_eq(peers_answering(peers), 0);
  cr_expect_eq(send(there, "G", 1, 0), 1);
  cr_expect_eq(peers_end_slow(peers, now_ms + PEERS_HEADER_MS + 1000, &crowd), 0);
  cr_expect_eq(recv(there, answer, sizeof answer, MSG_DONTWAIT), -1, "a request has come");
  cr_expect_eq(recv(here, answer, sizeof answer, 0), 1);
  cr_expect_eq(peers_end_slow(peers, now_ms + PEERS_HEADER_MS + 1000, &crowd), 0, "no 408");
  cr_expect_eq(recv(there, answer, sizeof answer, MSG_DONTWAIT), 0, "closed without an answer");
  peers_remove(peers, peer);
  peers_free(peers);
  close(here);
  close(there);
}

Test(listen, slow_peers) {
  check_slow(PEER_READS_HEAD, PEERS_HEADER_MS);
  check_slow(PEER_READS_BODY, PEERS_BODY_MS);
  check_slow(PEER_ANSWERS, INT64_C(1) << 40); /* the store may take its time */
  cr_expect_eq(PEERS_HEADER_MS, 10000);
  cr_expect_eq(PEERS_BODY_MS, 15000);
}

Test(listen, crowds) {
  enum { SILENT = PEERS_CROWD };
  struct peers *peers = peers_make();
  struct peer *all[SILENT];
  int here[SILENT], there[SILENT];
  bool crowd = false;
  for (int i = 0; i < SILENT; i++)
    all[i] = connect_peer(peers,
                          i == 0  ? PEER_READS_BODY
                          : i < 3 ? PEER_READS_HEAD
                                  : PEER_WAITS,
                          &here[i], &there[i]);
  cr_expect_eq(send(there[1], "GET", 3, 0), 3); /* it has begun to speak */
  int64_t now_ms = clock_mono_ms();
  cr_expect_eq(peers_end_slow(peers, now_ms, &crowd), 0);
  cr_expect_eq(peers_end_slow(peers, now_ms + PEERS_SILENT_MS, &crowd), 1);
  cr_expect(crowd);
  for (int i = 0; i < SILENT; i++) {
    char byte;
    int wanted = i < 2 ? -1 : i == 2 ? 1 : 0; /* it goes on, has an answer, is closed */
    cr_expect_eq(recv(there[i], &byte, 1, MSG_DONTWAIT), wanted, "%d", i);
  }
  peers_hear(peers, all[0]);
  now_ms = clock_mono_ms() + PEERS_STALLED_MS;
  cr_expect_eq(peers_end_slow(peers, now_ms - 1000, &crowd), 0, "a part of its body has come");
  cr_expect_eq(peers_end_slow(peers, now_ms, &crowd), 1, "the rest does not come");
  for (int i = 0; i < SILENT; i++) {
    peers_remove(peers, all[i]);
    close(here[i]);
    close(there[i]);
  }
  peers_free(peers);
}

Test(listen, peers_of_one_address) {
  struct sockaddr_in far = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)},
                     near = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
  struct peers *peers = peers_make();
  struct peer *all[PEERS_MOST_OF_ONE];
  for (int i = 0; i < PEERS_MOST_OF_ONE; i++) {
    cr_expect(peers_admit(peers, (const struct sockaddr *)&far));
    all[i] = peers_add(peers, -1, (const struct sockaddr *)&far);
  }
  cr_expect_not(peers_admit(peers, (const struct sockaddr *)&far), "one peer has so many");
  cr_expect(peers_admit(peers, (const struct sockaddr *)&near), "a proxy may have all");
  for (int i = 0; i < PEERS_MOST_OF_ONE; i++) peers_remove(peers, all[i]);
  cr_expect(peers_admit(peers, (const struct sockaddr *)&far));
  peers_free(peers);
}

/* A socket of [::] has such addresses for peers of IPv4. */
Test(listen, peers_of_mapped_addresses) {
  struct sockaddr_in6 near = {.sin6_family = AF_INET6}, far = {.sin6_family = AF_INET6};
  struct peers *peers = peers_make();
  struct peer *all[2 * PEERS_MOST_OF_ONE];
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &near.sin6_addr);
  inet_pton(AF_INET6, "::ffff:192.0.2.1", &far.sin6_addr);
  for (int i = 0; i < PEERS_MOST_OF_ONE; i++) {
    all[i] = peers_add(peers, -1, (const struct sockaddr *)&near);
    all[PEERS_MOST_OF_ONE + i] = peers_add(peers, -1, (const struct sockaddr *)&far);
  }
  cr_expect(peers_admit(peers, (const struct sockaddr *)&near), "a proxy may have all");
  cr_expect_not(peers_admit(peers, (const struct sockaddr *)&far));
  for (int i = 0; i < 2 * PEERS_MOST_OF_ONE; i++) peers_remove(peers, all[i]);
  peers_free(peers);
}

/* -- bodies that are read at once -------------------------------------------------------------- */

enum { READERS = 8, READS = 500 };

struct readers {
  struct room room;
  atomic_size_t inside, most;
};

static void *read_bodies(void *context) {
  struct readers *readers = context;
  for (size_t i = 0; i < READS; i++) {
    size_t bytes = i % 3 ? ROOM_MOST_BYTES / 2 : 2 * (size_t)ROOM_MOST_BYTES;
    listen_room_enter(&readers->room, bytes);
    size_t all = atomic_fetch_add(&readers->inside, bytes) + bytes, before = readers->most;
    while (all > before && !atomic_compare_exchange_weak(&readers->most, &before, all)) {}
    sched_yield();
    atomic_fetch_sub(&readers->inside, bytes);
    listen_room_leave(&readers->room, bytes);
  }
  return NULL;
}

/* Large ones are alone, and nobody waits for ever. */
Test(listen, room_for_bodies) {
  static struct readers readers = {.room = ROOM_EMPTY};
  pthread_t threads[READERS];
  for (int i = 0; i < READERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, read_bodies, &readers), 0);
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  cr_expect_eq(readers.most, 2 * (size_t)ROOM_MOST_BYTES);
  cr_expect_eq(readers.room.bytes, 0);
}

struct body {
  struct room *room;
  size_t bytes;
};

static void *read_body(void *context) {
  const struct body *body = context;
  listen_room_enter(body->room, body->bytes);
  listen_room_leave(body->room, body->bytes);
  return NULL;
}

/* Returns who was admitted last when so many have asked. */
static uint64_t admitted_of(struct room *room, uint64_t asked) {
  uint64_t admitted = 0;
  for (bool there = false; !there; sched_yield()) {
    pthread_mutex_lock(&room->mutex);
    there = room->last == asked;
    admitted = room->admitted;
    pthread_mutex_unlock(&room->mutex);
  }
  return admitted;
}

/* Otherwise a large one would wait for as long as small ones come. */
Test(listen, room_in_order) {
  static struct room room = ROOM_EMPTY;
  struct body bodies[] = {{&room, 2 * (size_t)ROOM_MOST_BYTES}, {&room, 1}};
  pthread_t threads[2];
  listen_room_enter(&room, 2);
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(pthread_create(&threads[i], NULL, read_body, &bodies[i]), 0);
    cr_expect_eq(admitted_of(&room, 2 + (uint64_t)i), 1, "%d waits", i);
  }
  listen_room_leave(&room, 2);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  cr_expect_eq(room.bytes, 0);
}

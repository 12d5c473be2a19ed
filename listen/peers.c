/* SPDX-License-Identifier: MIT
 */
#include "listen/peers.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/clock.h"

struct peer {
  int fd;
  enum peer_phase phase;
  int64_t since_ms, heard_ms; /* when the phase began; when a part of the body last came */
  struct in6_addr address;    /* zeros: the peer is on this machine */
  struct peer *next;
};

struct peers {
  pthread_mutex_t mutex;
  struct peer *first;
};

struct peers *peers_make(void) {
  struct peers *peers = calloc(1, sizeof *peers);
  if (peers) (void)pthread_mutex_init(&peers->mutex, NULL);
  return peers;
}

void peers_free(struct peers *peers) {
  if (!peers) return;
  while (peers->first) {
    struct peer *next = peers->first->next;
    free(peers->first);
    peers->first = next;
  }
  pthread_mutex_destroy(&peers->mutex);
  free(peers);
}

static bool is_of_this_machine(const struct in6_addr *address) {
  return IN6_IS_ADDR_LOOPBACK(address) ||
         (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

/* Returns the address; zeros for this machine. Only the first 64 bits of an IPv6 address count,
 * because one peer may have all addresses with that prefix. */
static struct in6_addr find_address(const struct sockaddr *address) {
  struct in6_addr found = IN6ADDR_ANY_INIT;
  if (address && address->sa_family == AF_INET6) {
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof six);
    if (!is_of_this_machine(&six.sin6_addr))
      memcpy(&found, &six.sin6_addr, IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) ? 16 : 8);
  } else if (address && address->sa_family == AF_INET) {
    struct sockaddr_in four;
    memcpy(&four, address, sizeof four);
    if (ntohl(four.sin_addr.s_addr) >> 24 != 127) memcpy(&found, &four.sin_addr, 4);
  }
  return found;
}

bool peers_admit(struct peers *peers, const struct sockaddr *address) {
  struct in6_addr wanted = find_address(address);
  unsigned count = 0;
  if (IN6_IS_ADDR_UNSPECIFIED(&wanted)) return true;
  pthread_mutex_lock(&peers->mutex);
  for (const struct peer *peer = peers->first; peer; peer = peer->next)
    count += memcmp(&peer->address, &wanted, sizeof wanted) == 0;
  pthread_mutex_unlock(&peers->mutex);
  return count < PEERS_MOST_OF_ONE;
}

struct peer *peers_add(struct peers *peers, int fd, const struct sockaddr *address) {
  struct peer *peer = calloc(1, sizeof *peer);
  if (!peer) return NULL;
  *peer = (struct peer){.fd = fd, .since_ms = clock_mono_ms(), .address = find_address(address)};
  pthread_mutex_lock(&peers->mutex);
  peer->next = peers->first;
  peers->first = peer;
  pthread_mutex_unlock(&peers->mutex);
  return peer;
}

void peers_remove(struct peers *peers, struct peer *peer) {
  pthread_mutex_lock(&peers->mutex);
  for (struct peer **at = &peers->first; *at; at = &(*at)->next) {
    if (*at != peer) continue;
    *at = peer->next;
    break;
  }
  pthread_mutex_unlock(&peers->mutex);
  free(peer);
}

void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase) {
  pthread_mutex_lock(&peers->mutex);
  peer->phase = phase;
  peer->since_ms = peer->heard_ms = clock_mono_ms();
  pthread_mutex_unlock(&peers->mutex);
}

void peers_hear(struct peers *peers, struct peer *peer) {
  pthread_mutex_lock(&peers->mutex);
  peer->heard_ms = clock_mono_ms();
  pthread_mutex_unlock(&peers->mutex);
}

unsigned peers_answering(struct peers *peers) {
  unsigned count = 0;
  pthread_mutex_lock(&peers->mutex);
  for (const struct peer *peer = peers->first; peer; peer = peer->next)
    count += peer->phase > PEER_READS_HEAD;
  pthread_mutex_unlock(&peers->mutex);
  return count;
}

/* Has the peer sent bytes that its thread has not read yet? */
static bool has_spoken(const struct peer *peer) {
  int unread = 0;
  return !ioctl(peer->fd, FIONREAD, &unread) && unread > 0;
}

/* Ends a connection that is too slow, while no other thread writes to it. The connection's thread
 * then closes it. Returns whether a request was answered. */
static bool end_if_slow(struct peer *peer, bool crowd, int64_t now_ms) {
  static const char answer[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                               "Content-Length: 0\r\n\r\n";
  int64_t head = crowd && !has_spoken(peer) ? PEERS_SILENT_MS : PEERS_HEADER_MS,
          most = peer->phase <= PEER_READS_HEAD ? head : PEERS_BODY_MS;
  bool begun = peer->phase != PEER_WAITS;
  bool stalled = crowd && peer->phase == PEER_READS_BODY && !has_spoken(peer) &&
                 now_ms - peer->heard_ms >= PEERS_STALLED_MS;
  if (peer->phase == PEER_ANSWERS || (!stalled && now_ms - peer->since_ms < most)) return false;
  if (!begun && has_spoken(peer)) return false; /* its thread will see that a request begins */
  peer->phase = PEER_ANSWERS;
  if (begun) (void)send(peer->fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(peer->fd, SHUT_RDWR);
  return begun;
}

unsigned peers_end_slow(struct peers *peers, int64_t now_ms, bool *ret_crowd) {
  unsigned count = 0, open = 0;
  pthread_mutex_lock(&peers->mutex);
  for (const struct peer *peer = peers->first; peer; peer = peer->next) open++;
  for (struct peer *peer = peers->first; peer; peer = peer->next)
    count += end_if_slow(peer, open >= PEERS_CROWD, now_ms);
  pthread_mutex_unlock(&peers->mutex);
  *ret_crowd = open >= PEERS_CROWD;
  return count;
}

/* SPDX-License-Identifier: MIT
 *
 * listen/peers.h: the open connections, and how long each may take. Any thread may call these.
 */
#ifndef LISTEN_PEERS_H
#define LISTEN_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { PEERS_MOST = 256, PEERS_MOST_OF_ONE = 32, PEERS_HEADER_MS = 10000, PEERS_BODY_MS = 15000 };
/* While this many are open, a connection that says nothing for this time makes way for others: with
 * no complete head, and in the middle of a body. */
enum { PEERS_CROWD = PEERS_MOST / 4 * 3, PEERS_SILENT_MS = 200, PEERS_STALLED_MS = 2000 };

struct peers;
struct peer;

struct peers *peers_make(void); /* NULL: no memory */
void peers_free(struct peers *peers);

/* May a connection from this address be added? A peer may have at most PEERS_MOST_OF_ONE; peers on
 * this machine, such as a proxy, have no such limit. */
bool peers_admit(struct peers *peers, const struct sockaddr *address);

/* Adds a connection that waits for a request. NULL: no memory. */
struct peer *peers_add(struct peers *peers, int fd, const struct sockaddr *address);
void peers_remove(struct peers *peers, struct peer *peer);

/* Reads a head: its first line has come. */
enum peer_phase { PEER_WAITS, PEER_READS_HEAD, PEER_READS_BODY, PEER_ANSWERS };
void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase);

/* A part of the body has come. */
void peers_hear(struct peers *peers, struct peer *peer);

/* Counts the connections that are being answered. */
unsigned peers_answering(struct peers *peers);

/* Ends the connections whose time is over. Those in which a request has begun are answered with
 * 408, and counted by the result. The others get no answer, because a proxy would take that for the
 * answer to its next request. *ret_crowd: many connections are open, so call it again soon. */
unsigned peers_end_slow(struct peers *peers, int64_t now_ms, bool *ret_crowd);

#endif

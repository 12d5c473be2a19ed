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
/* While PEERS_CROWD connections are open, a silent one is ended earlier to make room: after
 * PEERS_SILENT_MS without a complete head, after PEERS_STALLED_MS inside a body. */
enum { PEERS_CROWD = PEERS_MOST / 4 * 3, PEERS_SILENT_MS = 200, PEERS_STALLED_MS = 2000 };

struct peers;
struct peer;

struct peers *peers_make(void); /* NULL: no memory */
void peers_free(struct peers *peers);

/* May a connection from this address be added? A peer may have at most PEERS_MOST_OF_ONE, except
 * peers on this machine, such as a proxy. */
bool peers_admit(struct peers *peers, const struct sockaddr *address);

/* Adds a connection that waits for a request. NULL: no memory. */
struct peer *peers_add(struct peers *peers, int fd, const struct sockaddr *address);
void peers_remove(struct peers *peers, struct peer *peer);

/* PEER_READS_HEAD: the request's first line has come. */
enum peer_phase { PEER_WAITS, PEER_READS_HEAD, PEER_READS_BODY, PEER_ANSWERS };
void peers_enter(struct peers *peers, struct peer *peer, enum peer_phase phase);

/* A part of the body has come. */
void peers_hear(struct peers *peers, struct peer *peer);

/* Counts the connections that are being answered. */
unsigned peers_answering(struct peers *peers);

/* Ends the connections whose time is over. If a request has begun, it is answered with 408; returns
 * how many were. Other connections get no answer, because a proxy would take it for the answer to
 * its next request. *ret_crowd: many connections are open, so call this again soon. */
unsigned peers_end_slow(struct peers *peers, int64_t now_ms, bool *ret_crowd);

#endif

/* SPDX-License-Identifier: MIT
 *
 * query/answer.h: the extension tidings.query/1: it reads a session's rows and answers in JSON. It
 * changes nothing, except `configure`.
 */
#ifndef QUERY_ANSWER_H
#define QUERY_ANSWER_H

#include <tidings/query.h>

#include "common/json_write.h"
#include "query/request.h"
#include "session/op.h"

int query_answer(struct instance *instance, struct tidings_span request,
                 const struct tidings_answer **ret_answer, struct tidings_error *error);
void query_release(struct instance *instance,
                   const struct tidings_answer *answer); /* NULL is allowed */

/* A question that is being answered, in a snapshot. A session that the store does not know, or none
 * at all, has number 0 and an empty head. */
struct question {
  struct op op;
  const struct request *request;
  uint64_t last;          /* number of the newest item */
  struct owner looked_at; /* the owner that was looked at last, and .. */
  bool was_alive; /* .. whether it was alive, because one host may have thousands of sessions */
  struct json_writer writer;
};

/* Each writes the members of the answer. Errors: NOT_FOUND, STORE, NOMEM. */
int query_pending(struct question *question, struct tidings_error *error);
int query_status(struct question *question, struct tidings_error *error);
int query_stats(struct question *question, struct tidings_error *error);
/* Part of explain: what happened to a message. */
int query_explain_message(struct question *question, struct tidings_error *error);
/* Writes the steps of the run, from transition number `first` on. */
int query_write_transitions(struct question *question, uint64_t first, struct tidings_error *error);
int query_history(struct question *question, struct tidings_error *error);
int query_explain(struct question *question, struct tidings_error *error);
int query_queue(struct question *question, struct tidings_error *error);
int query_tools(struct question *question, struct tidings_error *error);
int query_timeline(struct question *question, struct tidings_error *error);
int query_stream(struct question *question, struct tidings_error *error);
int query_instructions(struct question *question, struct tidings_error *error);
int query_preview(struct question *question, struct tidings_error *error);
int query_sessions(struct question *question, struct tidings_error *error); /* of the whole store */
int query_totals(struct question *question, struct tidings_error *error);   /* likewise */
int query_render(struct question *question, struct tidings_error *error);

/* "messages": the texts of a reply. */
void query_write_shown(struct json_writer *writer, const struct tidings_reply *reply);

/* The name of the session with this number, in the question's memory; empty: there is none. Errors:
 * STORE, NOMEM. */
int query_session_name(struct question *question, uint64_t number, struct tidings_span *ret_name,
                       struct tidings_error *error);

/* Part of explain: "moved_to", the session to ask next. Errors: the same. */
int query_write_moved(struct question *question, uint64_t number, struct tidings_error *error);

/* "kind": {"source": …, "name": …}, as everywhere. */
void query_write_kind(struct json_writer *writer, const struct notification *note);
/* "occurred_at", if the item's event said it. */
void query_write_occurred(struct json_writer *writer, const struct notification *note);

/* Takes out what the first host of a forked session will end, and returns how many are left. */
size_t query_leave_out_ended(struct item *items, size_t count);

/* "due_at"; 0: nothing. */
void query_write_due(struct json_writer *writer, int64_t due_ms);

/* "data", as it was pushed. The data of a report is left out, because the message says what is in
 * it.
 */
void query_write_data(struct json_writer *writer, const struct notification *note);

/* Is the owner alive? Checks only once for neighbours in a list that have the same owner. */
bool query_owner_alive(struct question *question, const struct owner *owner);

/* "attachment": who has the session, or null. */
void query_write_attachment(struct json_writer *writer, const struct op *op);
const char *query_carrier_name(uint8_t carrier); /* of a delivery; history.c */
/* Writes the time since which a message is in the queue; null: it did not have to wait. */
void query_write_queued_at(struct json_writer *writer, const struct message *message);
/* The name of an event that moves a run: enum turns_event. */
const char *query_event_name(unsigned event);

#endif

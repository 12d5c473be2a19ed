/* SPDX-License-Identifier: MIT
 *
 * sim/model/parts.h: functions that the model's files share.
 */
#ifndef HOSTSIM_SIM_MODEL_PARTS_H
#define HOSTSIM_SIM_MODEL_PARTS_H

#include "sim/model/model.h"

/* items.c: the pending items that a delivery shows, and those that it ends, with their outcomes. */
struct plan {
  int end; /* all items that have lines are before this one */
  unsigned shown_count, taken_count, waiting;
  int shown[MODEL_ITEMS];
  struct {
    int item;
    enum outcome outcome;
  } taken[MODEL_ITEMS];
};
/* Plans at most `most` lines, which take at most `room` bytes with the words around them. */
void items_plan(const struct model *model, const struct sim_settings *settings, unsigned most,
                uint32_t room, struct plan *ret_plan);
/* Returns the bytes of a block with `most` lines, minus `less`, but enough for any single line, so
 * that no line is cut. 0: nothing is pending. */
uint32_t items_room(const struct model *model, const struct sim_settings *settings, unsigned most,
                    uint32_t less);
int items_push(struct model *model, const struct act *act, const struct sim_settings *settings);
/* Does the child of a fork get a copy of this leased item? */
bool items_is_copied(const struct model *model, unsigned i);
int items_check_fork(const struct model *model, const struct sim_settings *settings);
void items_poll(struct model *model, uint8_t handle);
void items_end(struct model *model, struct model_item *item, enum outcome outcome);
void items_ask_again(struct model *model);
/* Ends pending items that are older than a shown item with the same key. If the shown item is still
 * leased, they join its delivery. */
void items_give_way(struct model *model);
/* Does the newer item replace the older one? */
bool items_are_about_the_same(const struct model *model, int older, int newer);
bool items_is_due(const struct model *model, const struct model_item *item);
/* Was item `a` pushed after item `b`, or due after it? */
/* Was it pushed for a later time? */
bool items_was_for_later(const struct model_item *item);
bool items_is_newer(const struct model *model, int a, int b);
/* Returns when the first item that asks for something will be due; 0: none will. */
int64_t items_next_ms(const struct model *model);
bool items_is_expired(const struct model *model, const struct model_item *item);

/* bytes.c: counts the bytes that a model reads. The first two functions write the message of an
 * item as it was pushed, and its age ("12 min ago"; empty if the block does not state it). */
void bytes_message(const struct model *model, int item, char message[2 * TEXT_SIZE]);
void bytes_age(const struct model *model, const struct sim_settings *settings, int item,
               char age[NAME_SIZE]);
uint32_t bytes_of_block(const struct model *model, const struct sim_settings *settings, bool bare,
                        const int *items, unsigned count, unsigned waiting);
uint32_t bytes_of_steered(const struct sim_settings *settings, uint32_t serial);
/* Do blocks of this format have a preamble? */
bool bytes_have_preamble(const struct sim_settings *settings);

/* messages.c: the queue. Functions that return int return 0 or an error; on an error they change
 * nothing. */
struct model_message *message_find(struct model *model, int id);
int message_submit(struct model *model, const struct act *act, const struct sim_settings *settings,
                   int *ret_message);
int message_edit(struct model *model, const struct act *act);
int message_move(struct model *model, const struct act *act);
int message_redirect(struct model *model, const struct act *act);
void message_queue_again(struct model_message *message);
void message_fire(struct model_message *message);
int message_add_system(struct model *model, const struct model_item *item);
unsigned message_waiting(const struct model *model, enum message_state state, int *ret_messages);
bool message_is_over(const struct model_message *message);

/* run.c: the run state. */
void run_offer(struct model *model, const struct sim_settings *settings);
void run_offer_system(struct model *model, int message);
void run_withdraw_offer(struct model *model);
void run_become_idle(struct model *model);
void run_tool_result(struct model *model);
bool run_is_running(const struct model *model);
bool run_is_in_turn(const struct model *model, int id);
int run_event(struct model *model, const struct act *act, const struct sim_settings *settings);
int run_start_named(struct model *model, const struct act *act, bool fires);
int run_stop(struct model *model, const struct act *act);
int run_cancel(struct model *model, const struct act *act, const struct sim_settings *settings);

/* model.c: notes what the query `history` shows of the run. */
void model_note_change(struct model *model, unsigned cause, enum run_state from);

/* urgency.c */
void urgency_look(struct model *model, const struct sim_settings *settings, struct answer *answer);

/* carriers.c: makes, settles and rewinds deliveries. */
void carrier_make(struct model *model, const struct act *act, const struct sim_settings *settings,
                  struct answer *answer);
int carrier_settle(struct model *model, const struct act *act, const struct sim_settings *settings,
                   bool *ret_rolled_back);
/* Returns 1 + the index of the newest item that came back; 0: none did. */
unsigned carrier_rewind(struct model *model, const struct act *act);
void carrier_commit(struct model *model, int delivery);
bool carrier_roll_back(struct model *model, int delivery);

/* attachment.c: who owns the session. */
int attachment_enter(struct model *model, const struct act *act);
int attachment_open(struct model *model, const struct act *act);
int attachment_rewind(struct model *model, const struct act *act);
int attachment_close(struct model *model, const struct act *act);

#endif

/* SPDX-License-Identifier: MIT
 *
 * sim/model/parts.h: what the model's files call each other for.
 */
#ifndef HOSTSIM_SIM_MODEL_PARTS_H
#define HOSTSIM_SIM_MODEL_PARTS_H

#include "sim/model/model.h"

/* items.c: which pending items are shown. An item that the carrier takes gets an outcome; one that
 * it leaves is LEFT. */
struct plan {
  int end; /* no line is of an item from this one on */
  unsigned shown_count, taken_count, waiting;
  int shown[MODEL_ITEMS];
  struct {
    int item;
    enum outcome outcome;
  } taken[MODEL_ITEMS];
};
/* At most so many lines are shown, and with the words around them they have no more than so many
 * bytes. */
void items_plan(const struct model *model, const struct sim_settings *settings, unsigned most,
                uint32_t room, struct plan *ret_plan);
/* Just what the block with so many lines takes, or `less`; but each line has room if it is alone:
 * none has to be cut. 0: nothing is pending. */
uint32_t items_room(const struct model *model, const struct sim_settings *settings, unsigned most,
                    uint32_t less);
int items_push(struct model *model, const struct act *act, const struct sim_settings *settings);
/* Does the child of a fork get a copy of this leased item? */
bool items_is_copied(const struct model *model, unsigned i);
int items_check_fork(const struct model *model, const struct sim_settings *settings);
void items_poll(struct model *model, uint8_t handle);
void items_end(struct model *model, struct model_item *item, enum outcome outcome);
void items_ask_again(struct model *model);
/* A pending item that is older than the one shown with the same key ends, or goes with the carrier.
 */
void items_give_way(struct model *model);
/* Does the newer one take the older one's place? */
bool items_are_about_the_same(const struct model *model, int older, int newer);
bool items_is_due(const struct model *model, const struct model_item *item);
/* Was it pushed, or due, after the other? */
bool items_is_newer(const struct model *model, int a, int b);
/* When the first that asks for something will be due; 0: none will. */
int64_t items_next_ms(const struct model *model);
bool items_is_expired(const struct model *model, const struct model_item *item);

/* bytes.c: how long it is what a model reads. The message of an item, as it was pushed; "12 min
 * ago", if it is so old, else empty. */
void bytes_message(const struct model *model, int item, char message[2 * TEXT_SIZE]);
void bytes_age(const struct model *model, const struct sim_settings *settings, int item,
               char age[NAME_SIZE]);
uint32_t bytes_of_block(const struct model *model, const struct sim_settings *settings, bool bare,
                        const int *items, unsigned count, unsigned waiting);
uint32_t bytes_of_steered(const struct sim_settings *settings, uint32_t serial);
/* Do blocks of this format begin with sentences? */
bool bytes_have_preamble(const struct sim_settings *settings);

/* messages.c: the queue. Functions that return int answer 0 or an error and change nothing then. */
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

/* model.c: what history shows of the run. */
void model_note_change(struct model *model, unsigned cause, enum run_state from);

/* urgency.c */
void urgency_look(struct model *model, const struct sim_settings *settings, struct answer *answer);

/* carriers.c: what hooks lease and settles end. */
void carrier_make(struct model *model, const struct act *act, const struct sim_settings *settings,
                  struct answer *answer);
int carrier_settle(struct model *model, const struct act *act, const struct sim_settings *settings,
                   bool *ret_rolled_back);
/* Returns how many items there are up to the newest one that came back. */
unsigned carrier_rewind(struct model *model, const struct act *act);
void carrier_commit(struct model *model, int delivery);
bool carrier_roll_back(struct model *model, int delivery);

/* attachment.c: who owns the session. */
int attachment_enter(struct model *model, const struct act *act);
int attachment_open(struct model *model, const struct act *act);
int attachment_rewind(struct model *model, const struct act *act);
int attachment_close(struct model *model, const struct act *act);

#endif

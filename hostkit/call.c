/* SPDX-License-Identifier: MIT
 *
 * call.c: the typed calls. Each passes the gate, copies the reply out and gives it back to the
 * plugin before it leaves, so that no pointer into the image outlives the call. It reads nothing of
 * a reply but the delivery id.
 */
#include <stdlib.h>

#include "copy_reply.h"
#include "errors.h"
#include "kit.h"
#include "sized.h"
#include "text.h"

/* Memory ran out after the plugin had answered. Rolls the delivery back, because a delivery that
 * the host will never see must not stay leased. */
static int32_t lost_reply(const struct hk_instance *instance, uint64_t delivery_id,
                          struct tidings_error *error) {
  if (!delivery_id)
    return hk_error(
        error, TIDINGS_E_NOMEM,
        "out of memory while copying the reply: the call took effect, but its actions are lost; "
        "after turn.declined, turn.resume offers messages again; notifications go with the next "
        "carrier");
  struct tidings_settlement back = {
      .size = sizeof back, .outcome = TIDINGS_OUTCOME_ROLLED_BACK, .delivery_id = delivery_id};
  struct tidings_error said = {.size = sizeof said};
  int32_t code = instance->functions.settle(instance->plugin, &back, NULL, &said);
  if (code)
    return hk_error(error, TIDINGS_E_NOMEM,
                    "out of memory while copying the reply; delivery %llu stays leased: %s",
                    (unsigned long long)delivery_id,
                    said.text[0] ? said.text : hostkit_error_name(code));
  return hk_error(error, TIDINGS_E_NOMEM,
                  "out of memory while copying the reply; its delivery was rolled back");
}

/* Ends a call that answered `code` and perhaps a reply. */
static int32_t finish(struct hostkit *kit, int32_t code, const struct tidings_reply *theirs,
                      struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct tidings_reply *copy = NULL;
  if (!code && theirs && ret_reply) {
    copy = hk_reply_copy(theirs);
    uint64_t delivery_id = copy ? 0 : theirs->delivery_id;
    kit->now.functions.release(kit->now.plugin, theirs);
    if (!copy) code = lost_reply(&kit->now, delivery_id, error);
  }
  hk_end(kit);
  if (!code && ret_reply) *ret_reply = copy;
  return code;
}

static int32_t begin(struct hostkit *kit, const void *input, const char *input_name,
                     struct tidings_reply **ret_reply, struct tidings_error *error) {
  if (!input) return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer", input_name);
  if (!ret_reply) return hk_error(error, TIDINGS_E_INVAL, "ret_reply is a null pointer");
  return hk_begin(kit, error);
}

int32_t hostkit_tool_result(struct hostkit *kit, const struct tidings_tool_result *result,
                            struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code = begin(kit, result, "result", ret_reply, error);
  if (code) return code;
  const struct tidings_reply *theirs = NULL;
  code = kit->now.functions.on_tool_result(kit->now.plugin, result, &theirs, error);
  return finish(kit, code, theirs, ret_reply, error);
}

int32_t hostkit_chat_request(struct hostkit *kit, const struct tidings_chat_request *request,
                             struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code = begin(kit, request, "request", ret_reply, error);
  if (code) return code;
  const struct tidings_reply *theirs = NULL;
  code = kit->now.functions.on_chat_request(kit->now.plugin, request, &theirs, error);
  return finish(kit, code, theirs, ret_reply, error);
}

int32_t hostkit_event(struct hostkit *kit, const struct tidings_span *event,
                      struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code = begin(kit, event, "event", ret_reply, error);
  if (code) return code;
  const struct tidings_reply *theirs = NULL;
  code = kit->now.functions.on_event(kit->now.plugin, event, &theirs, error);
  return finish(kit, code, theirs, ret_reply, error);
}

int32_t hostkit_settle(struct hostkit *kit, uint64_t delivery_id, uint32_t outcome,
                       struct tidings_reply **ret_reply, struct tidings_error *error) {
  int32_t code = hk_begin(kit, error);
  if (code) return code;
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery_id};
  const struct tidings_reply *theirs = NULL;
  code = kit->now.functions.settle(kit->now.plugin, &settlement, ret_reply ? &theirs : NULL, error);
  return finish(kit, code, theirs, ret_reply, error);
}

int32_t hk_ask(const struct hk_instance *instance, const struct tidings_span *request,
               char **ret_json, size_t *ret_len, struct tidings_error *error) {
  const struct tidings_answer *answer = NULL;
  int32_t code = instance->query.query(instance->plugin, request, &answer, error);
  if (code) return code;
  if (!answer)
    return hk_error(error, TIDINGS_E_INVAL,
                    "the plugin answered a query with TIDINGS_OK and gave no answer");
  struct tidings_answer ours;
  HK_READ_SIZED(&ours, answer);
  size_t len = ours.json.len;
  char *json = hk_copy_text(ours.json.ptr, len);
  instance->query.release_answer(instance->plugin, answer);
  if (!json) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while copying an answer");
  *ret_json = json;
  *ret_len = len;
  return TIDINGS_OK;
}

int32_t hostkit_query(struct hostkit *kit, const struct tidings_span *request, char **ret_json,
                      struct tidings_error *error) {
  if (!request || !ret_json)
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer",
                    request ? "ret_json" : "request");
  int32_t code = hk_begin(kit, error);
  if (code) return code;
  size_t len = 0;
  if (kit->now.query.query) code = hk_ask(&kit->now, request, ret_json, &len, error);
  else
    code = hk_error(error, TIDINGS_E_UNSUPPORTED, "this plugin has no extension %s",
                    TIDINGS_EXT_QUERY);
  hk_end(kit);
  return code;
}

void hostkit_free(void *memory) { free(memory); }

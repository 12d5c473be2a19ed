/* SPDX-License-Identifier: MIT
 */
#include "kit/drill_wake.h"

#include <string.h>

static const struct tidings_wake *wake(const struct drill *drill) {
  return drill->rig.entry->get_extension(TIDINGS_EXT_WAKE);
}

static void enter(const struct drill *drill) {
  if (drill->rig.before) drill->rig.before();
}

static void leave(const struct drill *drill) {
  if (drill->rig.after) drill->rig.after();
}

int32_t drill_descriptor(struct drill *drill, struct tidings_error *error) {
  int32_t fd = -7;
  enter(drill);
  int32_t code = wake(drill)->descriptor(drill->rig.plugin, &fd, error);
  leave(drill);
  return code;
}

static int32_t next(struct drill *drill, char id[256], struct tidings_error *error) {
  size_t len = 0;
  enter(drill);
  int32_t code = wake(drill)->next_session(drill->rig.plugin, id, 255, &len, error);
  leave(drill);
  id[len] = '\0';
  return code;
}

/* Asks once: a session that was named is not named again. */
int32_t drill_next_session(struct drill *drill, struct tidings_error *error) {
  char id[256] = "";
  int32_t code = next(drill, id, error);
  if (code == 0 && id[0]) drill->named = true;
  return code;
}

int32_t drill_push_ringing(struct drill *drill, const char *session, uint64_t token,
                           struct tidings_error *error) {
  char event[RIG_EVENT_MAX + 64];
  size_t length = rig_push_event(event, session, token, false);
  snprintf(event + length - 2, sizeof event - length, ",\"activation\":\"idle\"}}");
  return rig_event(&drill->rig, event, error);
}

const char *drill_check_named(struct drill *drill, const char *session) {
  struct tidings_error error = RIG_ERROR;
  bool named = drill->named;
  char id[256];
  drill->named = false;
  do {
    int32_t code = next(drill, id, &error);
    if (code != 0) return rig_why(code, &error);
    named = named || strcmp(id, session) == 0;
  } while (id[0]);
  return named ? NULL : "the session that rang is not named";
}

const char *drill_check_descriptor(struct drill *drill) {
  struct tidings_error error = RIG_ERROR;
  int32_t code = drill_descriptor(drill, &error);
  return code != 0 ? rig_why(code, &error) : NULL;
}

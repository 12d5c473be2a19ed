/* SPDX-License-Identifier: MIT
 *
 * powercut/recover.c: a store that a power cut has left with a sector that is neither old nor new.
 */
#include <stdio.h>
#include <string.h>

#include "kit/arguments.h"
#include "powercut/inspect.h"

enum { WHY_BYTES = 512 };

static struct tidings_span span_of_text(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

static bool salvage(const struct rig *rig, const char *from, const char *to, char *why) {
  const struct tidings_store *extension = rig->entry->get_extension(TIDINGS_EXT_STORE);
  const struct tidings_store_request request = {
      .size = sizeof request, .from = span_of_text(from), .to = span_of_text(to)};
  const struct tidings_answer *answer = NULL;
  struct tidings_error error = RIG_ERROR;
  if (!extension) die("the plugin has no %s", TIDINGS_EXT_STORE);
  int32_t code = extension->salvage(&request, &answer, &error);
  extension->release_answer(answer);
  if (code) snprintf(why, WHY_BYTES, "salvage: %s", rig_why(code, &error));
  return code == 0;
}

bool inspect_spoilt(struct rig *rig, const char *path, const char *to, const struct trace *trace,
                    size_t cut, struct random random, bool *ret_refused, char *why) {
  struct tidings_error error = RIG_ERROR;
  char after[WHY_BYTES];
  int32_t code = rig_open(rig, &(struct rig_open){.store = path}, &error);
  *ret_refused = code == TIDINGS_E_STORE && strstr(error.text, "tidings store salvage");
  if (code == 0) code = rig_close(rig, &error);
  if (code != 0 && !*ret_refused) {
    snprintf(why, WHY_BYTES, "open: %s", rig_why(code, &error));
    return false;
  }
  if (!*ret_refused) return inspect(rig, path, trace, cut, random, why);
  if (!salvage(rig, path, to, why)) return false;
  if (inspect(rig, to, trace, cut, random, after)) return true;
  snprintf(why, WHY_BYTES, "refused (%.200s), and salvaged: %.250s", error.text, after);
  return false;
}

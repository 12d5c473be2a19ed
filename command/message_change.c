/* SPDX-License-Identifier: MIT
 *
 * command/message_change.c: see the header.
 */
#include "command/message_change.h"

struct message_change message_change_edit(const char *id, struct tidings_span content) {
  return (struct message_change){
      "message.edited",
      json_pack("{s:s, s:s%}", "id", id, "content", content.len ? content.ptr : "", content.len)};
}

struct message_change message_change_cancel(const char *id) {
  return (struct message_change){"message.cancelled", json_pack("{s:s}", "id", id)};
}

struct message_change message_change_move(const char *id, const char *before) {
  return (struct message_change){"message.moved",
                                 json_pack("{s:s, s:s?}", "id", id, "before", before)};
}

struct message_change message_change_redirect(const char *id, const char *delivery) {
  return (struct message_change){"message.redirected",
                                 json_pack("{s:s, s:s}", "id", id, "delivery", delivery)};
}

/* SPDX-License-Identifier: MIT
 */
#include "command/ask.h"

#include <stdlib.h>

#include "command/kit.h"
#include "command/session.h"

int ask(const struct cli *cli, struct hostkit *kit, json_t *request, json_t **ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = kit_query(kit, request, ret_answer, &error);
  return code ? cli_fail_with(cli, code, &error) : 0;
}

int ask_about_session(const struct cli *cli, json_t *request, json_t **ret_answer) {
  struct hostkit *kit = NULL;
  char *session = NULL;
  int code = session_open(cli, &kit, &session);
  if (!code && json_object_set_new(request, "session", json_string(session)))
    code = cli_fail(cli, "the session's id is not UTF-8");
  if (!code) code = ask(cli, kit, json_incref(request), ret_answer);
  json_decref(request);
  kit_close(kit);
  free(session);
  return code;
}

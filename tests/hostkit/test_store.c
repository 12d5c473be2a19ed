/* SPDX-License-Identifier: MIT
 *
 * test_store.c: the extension tidings.store/1 through hostkit: without an instance, with the
 * plugin's answer and its errors.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

static int32_t ask_store(const char *plugin, uint32_t task, char **ret_json,
                         struct tidings_error *error) {
  char path[512];
  const struct hostkit_options options = {
      .size = sizeof options, .flags = HOSTKIT_NO_PROBE, .plugin_path = path};
  const struct tidings_store_request request = {
      .size = sizeof request, .from = {"/from", 5}, .to = {"/to", 3}};
  (void)snprintf(path, sizeof path, "%s/tests/plugins/%s.so", getenv("TIDINGS_BUILD_DIR"), plugin);
  return hostkit_store(&options, task, &request, ret_json, error);
}

static void expect_error(const char *plugin, uint32_t task, int32_t expected, const char *says) {
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  cr_expect_eq(ask_store(plugin, task, &json, &error), expected, "%s", error.text);
  cr_expect_null(json);
  cr_expect(strstr(error.text, says), "%s", error.text);
}

Test(store, an_answer_is_copied_out_before_the_image_goes) {
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  cr_assert_eq(ask_store("check_crashes", HOSTKIT_STORE_BACKUP, &json, &error), TIDINGS_OK, "%s",
               error.text);
  cr_expect_str_eq(json, "{\"from\":\"/from\",\"to\":\"/to\"}");
  hostkit_free(json);
}

Test(store, errors_are_the_plugins_or_say_what_is_missing) {
  expect_error("check_crashes", HOSTKIT_STORE_SALVAGE, TIDINGS_E_STORE, "nothing is left");
  expect_error("check_crashes", HOSTKIT_STORE_MIGRATE, TIDINGS_E_UNSUPPORTED, TIDINGS_EXT_STORE);
  expect_error("good_a", HOSTKIT_STORE_CHECK, TIDINGS_E_UNSUPPORTED, TIDINGS_EXT_STORE);
  expect_error("check_crashes", HOSTKIT_STORE_INIT, TIDINGS_E_UNSUPPORTED, TIDINGS_EXT_STORE);
  expect_error("check_crashes", 0, TIDINGS_E_INVAL, "task is 0");
  expect_error("check_crashes", HOSTKIT_STORE_FORGET, TIDINGS_E_UNSUPPORTED, TIDINGS_EXT_STORE);
  expect_error("check_crashes", HOSTKIT_STORE_FORGET + 1, TIDINGS_E_INVAL, "task is 11");
  expect_error("wrong_major", HOSTKIT_STORE_CHECK, TIDINGS_E_UNSUPPORTED, "major");
  expect_error("no_such_plugin", HOSTKIT_STORE_CHECK, TIDINGS_E_NOT_FOUND, "no_such_plugin");
}

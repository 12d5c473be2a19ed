/* SPDX-License-Identifier: MIT
 *
 * check_crashes.c: has the extension for whole stores, whose check crashes, backup returns its
 * arguments, and salvage fails, and which has no migrate. No instance of it can be opened.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bad.h"

struct answer {
  struct tidings_answer abi;
  char json[512];
};

static int32_t check(const struct tidings_store_request *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error) {
  (void)request, (void)ret_answer, (void)error;
  (void)signal(SIGSEGV, SIG_DFL);
  (void)raise(SIGSEGV);
  return TIDINGS_E_STORE;
}

static int32_t backup(const struct tidings_store_request *request,
                      const struct tidings_answer **ret_answer, struct tidings_error *error) {
  struct answer *answer = calloc(1, sizeof *answer);
  (void)error;
  if (!answer) return TIDINGS_E_NOMEM;
  (void)snprintf(answer->json, sizeof answer->json, "{\"from\":\"%.*s\",\"to\":\"%.*s\"}",
                 (int)request->from.len, request->from.ptr, (int)request->to.len, request->to.ptr);
  answer->abi = (struct tidings_answer){.size = sizeof answer->abi,
                                        .json = {.ptr = answer->json, .len = strlen(answer->json)}};
  *ret_answer = &answer->abi;
  return TIDINGS_OK;
}

static int32_t salvage(const struct tidings_store_request *request,
                       const struct tidings_answer **ret_answer, struct tidings_error *error) {
  (void)request, (void)ret_answer;
  if (error) (void)snprintf(error->text, sizeof error->text, "nothing is left");
  return TIDINGS_E_STORE;
}

static void release_answer(const struct tidings_answer *answer) { free((void *)(uintptr_t)answer); }

static const struct tidings_store store = {.size = sizeof store,
                                           .check = check,
                                           .backup = backup,
                                           .salvage = salvage,
                                           .release_answer = release_answer};

static const void *get_extension(const char *id) {
  return strcmp(id, TIDINGS_EXT_STORE) == 0 ? &store : NULL;
}

static int32_t open_nothing(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return TIDINGS_E_STORE;
}

extern const struct tidings_entry tidings_entry;
__attribute__((visibility("default"))) const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry,
    .abi_major = TIDINGS_ABI_MAJOR,
    .abi_minor = TIDINGS_ABI_MINOR,
    .name = "bad",
    .version = "0.0.1",
    .build_id = "",
    .open = open_nothing,
    .get_extension = get_extension,
};

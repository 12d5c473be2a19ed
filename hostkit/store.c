/* SPDX-License-Identifier: MIT
 *
 * store.c: the extension `tidings.store/1` of a plugin that is loaded for one call.
 */
#include <stdlib.h>

#include "copy.h"
#include "errors.h"
#include "load.h"
#include "sized.h"
#include "text.h"

typedef int32_t (*store_task)(const struct tidings_store_request *request,
                              const struct tidings_answer **ret_answer,
                              struct tidings_error *error);

static store_task task_of(const struct tidings_store *store, uint32_t task) {
  switch (task) {
  case HOSTKIT_STORE_CHECK: return store->check;
  case HOSTKIT_STORE_BACKUP: return store->backup;
  case HOSTKIT_STORE_SALVAGE: return store->salvage;
  case HOSTKIT_STORE_INIT: return store->init;
  case HOSTKIT_STORE_UPGRADE: return store->upgrade;
  case HOSTKIT_STORE_DROP: return store->drop;
  case HOSTKIT_STORE_DUMP: return store->dump;
  case HOSTKIT_STORE_LOAD: return store->load;
  case HOSTKIT_STORE_FORGET: return store->forget;
  default: return store->migrate;
  }
}

static int32_t take_answer(const struct tidings_store *store, const struct tidings_answer *theirs,
                           char **ret_json, struct tidings_error *error) {
  struct tidings_answer answer;
  HK_READ_SIZED(&answer, theirs);
  char *json = hk_copy_text(answer.json.ptr, answer.json.len);
  store->release_answer(theirs);
  if (!json) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while copying an answer");
  *ret_json = json;
  return TIDINGS_OK;
}

static int32_t run(const struct hk_instance *loaded, uint32_t task,
                   const struct tidings_store_request *request, char **ret_json,
                   struct tidings_error *error) {
  struct tidings_store store;
  const struct tidings_answer *theirs = NULL;
  HK_READ_SIZED(&store, loaded->entry.get_extension(TIDINGS_EXT_STORE));
  store_task work = task_of(&store, task);
  if (!work || !store.release_answer)
    return hk_error(error, TIDINGS_E_UNSUPPORTED, "this plugin has no extension %s",
                    TIDINGS_EXT_STORE);
  int32_t code = work(request, &theirs, error);
  return code ? code : take_answer(&store, theirs, ret_json, error);
}

/* Returns the store of the task; NULL: there is none, and the plugin says what is wrong. */
static char *store_of(uint32_t task, const struct tidings_store_request *request) {
  if (!request || request->size < TIDINGS_STORE_REQUEST_SIZE_1_1) return NULL;
  const struct tidings_span *place = task == HOSTKIT_STORE_LOAD ? &request->to : &request->from;
  return hk_copy_text(place->ptr, place->len);
}

int32_t hostkit_store(const struct hostkit_options *options, uint32_t task,
                      const struct tidings_store_request *request, char **ret_json,
                      struct tidings_error *error) {
  struct hk_settings settings;
  struct hk_instance loaded;
  struct hk_copy copy = HK_COPY_NONE;
  if (!ret_json) return hk_error(error, TIDINGS_E_INVAL, "ret_json is a null pointer");
  if (task < HOSTKIT_STORE_CHECK || task > HOSTKIT_STORE_FORGET)
    return hk_error(error, TIDINGS_E_INVAL, "task is %u, expected 1 to 10", (unsigned)task);
  int32_t code = hk_settings_init(&settings, options, error);
  if (code) return code;
  char *place = store_of(task, request);
  if (place) code = hk_settings_plugin_for(&settings, place, error);
  free(place);
  if (!code) code = hk_prepare(settings.plugin_path, &settings, &copy, error);
  if (!code) code = hk_load_entry(&copy, settings.plugin_path, &settings, &loaded, error);
  if (!code) {
    code = run(&loaded, task, request, ret_json, error);
    hk_unload(&loaded, &settings);
    hk_copy_drop(&loaded.copy);
  }
  hk_copy_drop(&copy);
  hk_settings_finish(&settings);
  return code;
}

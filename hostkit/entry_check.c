/* SPDX-License-Identifier: MIT
 *
 * entry_check.c: compares sizes with those of version 1.0, so that a plugin of that version is
 * never refused.
 */
#include "entry_check.h"

#include "errors.h"
#include "sized.h"
#include <tidings/hostkit.h>

static const char *missing_in_entry(const struct tidings_entry *entry) {
  if (!entry->name) return "a name";
  if (!entry->version) return "a version";
  if (!entry->build_id) return "a build id";
  if (!entry->open) return "the function open";
  if (!entry->get_extension) return "the function get_extension";
  return NULL;
}

int32_t hk_entry_read(const void *symbol, const char *label, struct tidings_entry *ret_entry,
                      struct tidings_error *error) {
  if (!symbol)
    return hk_error(error, TIDINGS_E_INVAL, "%s is not a tidings plugin: it exports no symbol %s",
                    label, TIDINGS_ENTRY_SYMBOL);

  const struct tidings_entry *theirs = symbol;
  if (theirs->abi_major != TIDINGS_ABI_MAJOR)
    return hk_error(
        error, TIDINGS_E_UNSUPPORTED,
        "%s speaks version %u.%u of the contract, this host %d.%d: the first numbers must be equal",
        label, (unsigned)theirs->abi_major, (unsigned)theirs->abi_minor, TIDINGS_ABI_MAJOR,
        TIDINGS_ABI_MINOR);
  if (theirs->size < TIDINGS_ENTRY_SIZE_1_0)
    return hk_error(error, TIDINGS_E_INVAL,
                    "%s has an entry struct of %u bytes, version 1.0 has %zu", label,
                    (unsigned)theirs->size, TIDINGS_ENTRY_SIZE_1_0);

  struct tidings_entry entry;
  HK_READ_SIZED(&entry, theirs);
  const char *missing = missing_in_entry(&entry);
  if (missing)
    return hk_error(error, TIDINGS_E_INVAL, "%s has an incomplete entry struct: it lacks %s", label,
                    missing);
  *ret_entry = entry;
  return TIDINGS_OK;
}

static const char *missing_in_functions(const struct tidings_plugin *functions) {
  if (!functions->on_tool_result) return "on_tool_result";
  if (!functions->on_chat_request) return "on_chat_request";
  if (!functions->on_event) return "on_event";
  if (!functions->settle) return "settle";
  if (!functions->release) return "release";
  if (!functions->quiesce) return "quiesce";
  if (!functions->close) return "close";
  return NULL;
}

int32_t hk_entry_open(const struct tidings_entry *entry, const char *label,
                      const struct tidings_host *host, const struct tidings_open_options *options,
                      struct tidings_plugin **ret_plugin, struct tidings_plugin *ret_functions,
                      struct tidings_error *error) {
  struct tidings_plugin *plugin = NULL;
  struct tidings_error said = {.size = sizeof said};
  int32_t code = entry->open(host, options, &plugin, &said);
  if (code && said.text[0]) return hk_error(error, code, "%s", said.text);
  if (code)
    return hk_error(error, code, "%s: its function open answered %s and gave no reason", label,
                    hostkit_error_name(code));
  if (!plugin)
    return hk_error(error, TIDINGS_E_INVAL,
                    "%s: its function open answered TIDINGS_OK and gave no instance", label);

  if (plugin->size < TIDINGS_PLUGIN_SIZE_1_0)
    return hk_error(error, TIDINGS_E_INVAL,
                    "%s has an instance struct of %u bytes, version 1.0 has %zu", label,
                    (unsigned)plugin->size, TIDINGS_PLUGIN_SIZE_1_0);
  struct tidings_plugin functions;
  HK_READ_SIZED(&functions, plugin);
  const char *missing = missing_in_functions(&functions);
  if (missing) {
    if (functions.close) functions.close(plugin, NULL);
    return hk_error(error, TIDINGS_E_INVAL,
                    "%s has an incomplete instance: it lacks the function %s", label, missing);
  }
  *ret_plugin = plugin;
  *ret_functions = functions;
  return TIDINGS_OK;
}

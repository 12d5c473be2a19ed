/* SPDX-License-Identifier: MIT
 *
 * config/config.h: converts the configuration from JSON and to JSON. An unknown key, a wrong type
 * or a value out of range is SCHEMA with the key's path. Only in conversation.tools.<tool> keys
 * other than `notifications` are ignored: they belong to the host.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "common/arena.h"
#include "common/buffer.h"
#include "values/settings.h"

/* Empty bytes give the defaults. On failure *ret_settings is untouched. Returns 0, INVAL, SCHEMA,
 * TOO_BIG, NOMEM. */
int config_parse(struct tidings_span bytes, struct arena *arena, struct settings *ret_settings,
                 struct tidings_error *error);

/* "plain"; NULL: a later version has it. */
const char *config_preset_name(unsigned preset);
const char *config_format_name(unsigned format);

/* The whole configuration in force, every key written, as one JSON object that config_parse reads
 * to the same settings. A buffer that ran out of memory is `failed`. */
void config_write(const struct settings *settings, struct buffer *out);
/* The same without the keys that have their preset's or the default value: builds that do not know
 * such a key read it too. */
void config_write_changed(const struct settings *settings, struct buffer *out);

#endif

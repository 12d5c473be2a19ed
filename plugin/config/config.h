/* SPDX-License-Identifier: MIT
 *
 * config/config.h: converts the configuration from JSON and to JSON. An unknown key, a wrong type
 * or a value out of range is SCHEMA with the key's path. Only the keys of conversation.tools.<tool>
 * other than `notifications` are ignored, because they belong to the host.
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

/* Returns a name such as "plain"; NULL: only a later version knows the number. */
const char *config_preset_name(unsigned preset);
const char *config_format_name(unsigned format);

/* Writes the effective configuration with all its keys, as one JSON object from which config_parse
 * reads the same settings. If memory runs out, `out` is `failed`. */
void config_write(const struct settings *settings, struct buffer *out);
/* The same without the keys whose value is the preset's or the default, so that builds that do not
 * know such a key can read it. */
void config_write_changed(const struct settings *settings, struct buffer *out);

#endif

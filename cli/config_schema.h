/* SPDX-License-Identifier: MIT
 *
 * config_schema.h: abi/schema/config.schema.json as it was when this program was built
 * (embed.cmake).
 */
#ifndef TIDINGS_CLI_CONFIG_SCHEMA_H
#define TIDINGS_CLI_CONFIG_SCHEMA_H

extern const char config_schema[];

#endif

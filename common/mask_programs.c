/* SPDX-License-Identifier: MIT
 *
 * common/mask_programs.c: programs whose short options take a password.
 */
#include "common/mask.h"
#include "common/mask_find.h"

enum form {
  ATTACHED,     /* -px */
  NEXT,         /* -p x, -px */
  USER,         /* -u user:x, -uuser:x */
  USER_PERCENT, /* -U user%x */
};

struct mask_program {
  const char *name, *option;
  enum form form;
};

static const struct mask_program programs[] = {{"mysql", "-p", ATTACHED},
                                               {"mysqldump", "-p", ATTACHED},
                                               {"mysqladmin", "-p", ATTACHED},
                                               {"mariadb", "-p", ATTACHED},
                                               {"mariadb-dump", "-p", ATTACHED},
                                               {"mariadb-admin", "-p", ATTACHED},
                                               {"mysqlimport", "-p", ATTACHED},
                                               {"7z", "-p", ATTACHED},
                                               {"sshpass", "-p", NEXT},
                                               {"mongo", "-p", NEXT},
                                               {"mongosh", "-p", NEXT},
                                               {"mongodump", "-p", NEXT},
                                               {"mongorestore", "-p", NEXT},
                                               {"docker login", "-p", NEXT},
                                               {"podman login", "-p", NEXT},
                                               {"helm registry login", "-p", NEXT},
                                               {"redis-cli", "-a", NEXT},
                                               {"ldapsearch", "-w", NEXT},
                                               {"ldapmodify", "-w", NEXT},
                                               {"sqlcmd", "-P", NEXT},
                                               {"bcp", "-P", NEXT},
                                               {"zip", "-P", NEXT},
                                               {"unzip", "-P", NEXT},
                                               {"curl", "-u", USER},
                                               {"curl", "--user", USER},
                                               {"curl", "-U", USER},
                                               {"curl", "--proxy-user", USER},
                                               {"http", "-a", USER},
                                               {"https", "-a", USER},
                                               {"smbclient", "-U", USER_PERCENT},
                                               {NULL, NULL, 0}};

const struct mask_program *mask_find_program(struct tidings_span text, size_t at) {
  for (const struct mask_program *program = programs; program->name; program++) {
    size_t len = strlen(program->name);
    if (text.ptr[at] == program->name[0] && mask_starts(text, at, program->name) &&
        at + len < text.len && mask_is_blank(text.ptr[at + len]))
      return program;
  }
  return NULL;
}

/* Finds a secret in an option; options begin after a blank or a quote. */
static struct secret find(const struct mask_program *program, struct tidings_span text, size_t at) {
  size_t option = strlen(program->option), from = at + option;
  if (!mask_starts(text, at, program->option) || from >= text.len) return (struct secret){0};
  bool attached = !mask_is_blank(text.ptr[from]);
  if ((attached && program->option[1] == '-' && text.ptr[from] != '=') ||
      (!attached && program->form == ATTACHED))
    return (struct secret){0};
  if (attached && text.ptr[from] == '=') from++;
  while (from < text.len && mask_is_blank(text.ptr[from])) from++;
  size_t len = mask_value(text, from, &from);
  if (program->form == USER || program->form == USER_PERCENT) {
    const char *colon = memchr(text.ptr + from, program->form == USER ? ':' : '%', len);
    size_t user = colon ? (size_t)(colon - text.ptr) + 1 - from : len;
    from += user;
    len -= user;
  }
  struct tidings_span value = span_of(text.ptr + from, len);
  if (mask_is_placeholder(value) || value.ptr[0] == '-') return (struct secret){0};
  return (struct secret){.shown = from - at, .hidden = len};
}

struct secret mask_find_option(const struct mask_program *program, struct tidings_span text,
                               size_t at) {
  struct secret secret = {0};
  if (text.ptr[at] != '-' || (at && !strchr(" \t\"'", text.ptr[at - 1]))) return secret;
  for (const struct mask_program *each = programs; each->name && !secret.hidden; each++) {
    if (strcmp(each->name, program->name) == 0) secret = find(each, text, at);
  }
  return secret;
}

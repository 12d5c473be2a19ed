/* SPDX-License-Identifier: MIT
 */
#include "mcp/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/owner.h"
#include "agents/hosts/hosts.h"
#include "command/owner.h"
#include "common/file.h"
#include "common/fnv.h"

uint32_t mcp_agent_find(char *name, size_t size) {
  char why[OWNER_WHY_SIZE], program[OWNER_NAME_SIZE], script[OWNER_NAME_SIZE];
  uint32_t pid = hook_owner(NULL, why);
  name[0] = '\0';
  if (!pid) return 0;
  owner_program(pid, program);
  owner_script(pid, program, script);
  const char *slash = strrchr(script, '/'), *file = slash ? slash + 1 : script;
  snprintf(name, size, "%s", file[0] ? file : program);
  char *extension = strrchr(name, '.');
  if (file[0] && extension && extension != name) *extension = '\0';
  return pid;
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value && value[0] ? value : NULL;
}

const char *mcp_agent_session(void) {
  for (size_t i = 0; i < host_count; i++) {
    const char *name = hosts[i]->session_variable, *session = name ? variable(name) : NULL;
    if (session) return session;
  }
  return NULL;
}

char *mcp_agent_session_name(const char *agent, const char *folder, unsigned n) {
  char *name = NULL, suffix[16] = "";
  if (n > 1) snprintf(suffix, sizeof suffix, "-%u", n);
  uint32_t hash = (uint32_t)fnv_span(FNV_START, span_text(folder));
  return asprintf(&name, "%.200s-%08x%s", agent, (unsigned)hash, suffix) < 0 ? NULL : name;
}

bool mcp_agent_shows_errors_raw(void) {
  for (size_t i = 0; i < host_count; i++) {
    if (hosts[i]->raw_variable && variable(hosts[i]->raw_variable)) return true;
  }
  return false;
}

/* In /proc/PID/stat, the state and six numbers follow the name, and the last of these has the
 * flags. PF_EXITING is set before a process closes its files. */
bool mcp_agent_is_ending(uint32_t pid) {
  enum { PF_EXITING = 4, MOST = 4096, NUMBERS = 6 };
  char path[64], *text = NULL;
  size_t len = 0;
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  if (file_read_whole(path, MOST, &text, &len)) return true;
  const char *name_end = strrchr(text, ')');
  bool ending = false;
  if (name_end && name_end[1] == ' ' && name_end[2]) {
    char *at = (char *)(uintptr_t)name_end + 3;
    unsigned long flags = 0;
    for (int i = 0; i < NUMBERS; i++) flags = strtoul(at, &at, 10);
    ending = name_end[2] == 'Z' || name_end[2] == 'X' || flags & PF_EXITING;
  }
  free(text);
  return ending;
}

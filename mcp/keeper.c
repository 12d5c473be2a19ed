/* SPDX-License-Identifier: MIT
 */
#include "mcp/keeper.h"

#include <stdlib.h>
#include <string.h>

/* Waits for a task and takes it. *ret_session: the session to open (free it); NULL: none. False:
 * the keeper ends and no task is left. */
static bool take_task(struct mcp_keeper *keeper, char **ret_session, bool *ret_settles) {
  pthread_mutex_lock(&keeper->lock);
  while (!keeper->session_count && !keeper->settles && !keeper->ends)
    pthread_cond_wait(&keeper->has_work, &keeper->lock);
  bool any = keeper->session_count || keeper->settles;
  *ret_session = keeper->session_count ? keeper->sessions[0] : NULL;
  *ret_settles = keeper->settles;
  keeper->settles = false;
  if (keeper->session_count) {
    keeper->session_count--;
    memmove(keeper->sessions, keeper->sessions + 1,
            keeper->session_count * sizeof *keeper->sessions);
  }
  pthread_mutex_unlock(&keeper->lock);
  return any;
}

static void *keep(void *context) {
  struct mcp_keeper *keeper = context;
  char *session = NULL;
  bool settles = false;
  while (take_task(keeper, &session, &settles)) {
    if (settles) mcp_news_settle(keeper->news);
    if (session) mcp_news_open(keeper->news, session);
    free(session);
  }
  return NULL;
}

int mcp_keeper_begin(struct mcp_news *news, struct mcp_keeper *keeper) {
  *keeper = (struct mcp_keeper){.news = news};
  (void)pthread_mutex_init(&keeper->lock, NULL);
  (void)pthread_cond_init(&keeper->has_work, NULL);
  return pthread_create(&keeper->thread, NULL, keep, keeper);
}

static bool is_asked_for(const struct mcp_keeper *keeper, const char *named) {
  for (size_t i = 0; i < keeper->session_count; i++) {
    if (strcmp(keeper->sessions[i], named) == 0) return true;
  }
  return false;
}

void mcp_keeper_open(struct mcp_keeper *keeper, const char *named) {
  pthread_mutex_lock(&keeper->lock);
  if (keeper->session_count < MCP_MOST_SESSIONS && !is_asked_for(keeper, named)) {
    char *copy = strdup(named);
    if (copy) keeper->sessions[keeper->session_count++] = copy;
  }
  pthread_cond_signal(&keeper->has_work);
  pthread_mutex_unlock(&keeper->lock);
}

void mcp_keeper_settle(struct mcp_keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  keeper->settles = true;
  pthread_cond_signal(&keeper->has_work);
  pthread_mutex_unlock(&keeper->lock);
}

void mcp_keeper_end(struct mcp_keeper *keeper) {
  pthread_mutex_lock(&keeper->lock);
  keeper->ends = true;
  pthread_cond_signal(&keeper->has_work);
  pthread_mutex_unlock(&keeper->lock);
  (void)pthread_join(keeper->thread, NULL);
  pthread_cond_destroy(&keeper->has_work);
  pthread_mutex_destroy(&keeper->lock);
}

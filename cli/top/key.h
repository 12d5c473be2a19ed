/* SPDX-License-Identifier: MIT
 *
 * top/key.h: the keys.
 */
#ifndef TIDINGS_CLI_TOP_KEY_H
#define TIDINGS_CLI_TOP_KEY_H

#include <stdint.h>

/* A character, or one of these. */
enum key {
  KEY_IS_ENTER = '\r',
  KEY_IS_ESCAPE = 0x1B,
  KEY_IS_UP = 0x110000,
  KEY_IS_DOWN,
  KEY_IS_LEFT,
  KEY_IS_RIGHT,
  KEY_IS_HOME,
  KEY_IS_END,
  KEY_IS_PAGE_UP,
  KEY_IS_PAGE_DOWN,
  KEY_IS_BACKSPACE,
  KEY_IS_DELETE,
  KEY_IS_HELP,   /* F1 */
  KEY_IS_SEARCH, /* F3 and F4 */
  KEY_IS_SORT,   /* F6 */
  KEY_IS_QUIT,   /* F10 */
  KEY_IS_PASTE,  /* until KEY_IS_PASTED, characters are pasted, not typed */
  KEY_IS_PASTED,
  KEY_IS_UNKNOWN
};
#define KEY_CONTROL(letter) ((uint32_t)(letter)&0x1F)

#endif

/* SPDX-License-Identifier: MIT
 *
 * libstdcxx.c: what libstdc++ and libgcc take from glibc, for musl and for an older glibc.
 */
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

/* As glibc 2.35 has it, on machines whose unwinder needs no more: x86-64 and arm64. */
struct found_object {
  unsigned long long flags;
  void *map_start;
  void *map_end;
  struct link_map *link_map;
  void *eh_frame;
  unsigned long long reserved[7];
};

extern char __libc_single_threaded;
extern int _dl_find_object(void *address, struct found_object *ret_object);
extern uint32_t arc4random(void);

/* Whether there is one thread only, so that counting needs no atomic instruction. */
char __libc_single_threaded = 0;

struct search {
  uintptr_t address;
  struct found_object *object;
};

static int find_in_object(struct dl_phdr_info *info, size_t size, void *context) {
  struct search *search = context;
  uintptr_t start = 0, end = 0, eh_frame = 0;
  (void)size;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *head = &info->dlpi_phdr[i];
    uintptr_t at = (uintptr_t)(info->dlpi_addr + head->p_vaddr);
    if (head->p_type == PT_GNU_EH_FRAME) eh_frame = at;
    if (head->p_type != PT_LOAD || search->address < at || search->address - at >= head->p_memsz)
      continue;
    start = at;
    end = at + (uintptr_t)head->p_memsz;
  }
  if (!end || !eh_frame) return 0;
  *search->object = (struct found_object){
      .map_start = (void *)start, .map_end = (void *)end, .eh_frame = (void *)eh_frame};
  return 1;
}

/* Without it no exception finds the function that catches it: libgcc asks nothing else. */
int _dl_find_object(void *address, struct found_object *ret_object) {
  struct search search = {.address = (uintptr_t)address, .object = ret_object};
  return dl_iterate_phdr(find_in_object, &search) ? 0 : -1;
}

/* For std::random_device, which is linked and not used. */
uint32_t arc4random(void) { abort(); }

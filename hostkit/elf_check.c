/* SPDX-License-Identifier: MIT
 *
 * elf_check.c: reads ELF headers with pread, maps nothing, runs nothing.
 */
#include "elf_check.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__i386__)
#define THIS_MACHINE EM_386
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#elif defined(__arm__)
#define THIS_MACHINE EM_ARM
#elif defined(__riscv)
#define THIS_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define THIS_MACHINE EM_PPC64
#elif defined(__s390x__)
#define THIS_MACHINE EM_S390
#elif defined(__loongarch__)
#define THIS_MACHINE EM_LOONGARCH
#else
#error "name this machine's ELF number here"
#endif

#define THIS_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define THIS_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct elf_file {
  int fd;
  uint64_t size;
  const char *label;
  struct tidings_error *error;
};

static int32_t cut_short(const struct elf_file *file, const char *what) {
  return hk_error(file->error, TIDINGS_E_INVAL,
                  "%s is cut short: %s do not end inside its %llu bytes", file->label, what,
                  (unsigned long long)file->size);
}

/* Whether [offset, offset + len) lies inside the file, without overflow. */
static bool inside(const struct elf_file *file, uint64_t offset, uint64_t len) {
  return offset <= file->size && len <= file->size - offset;
}

static int32_t read_at(const struct elf_file *file, uint64_t offset, void *buffer, size_t len,
                       const char *what) {
  if (!inside(file, offset, len)) return cut_short(file, what);
  size_t done = 0;
  while (done < len) {
    ssize_t got = pread(file->fd, (char *)buffer + done, len - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return hk_error(file->error, TIDINGS_E_STORE, "cannot read %s: %s", file->label,
                      strerror(errno));
    if (got == 0) return cut_short(file, what);
    done += (size_t)got;
  }
  return TIDINGS_OK;
}

static int32_t check_identity(const struct elf_file *file, const ElfW(Ehdr) * header) {
  if (header->e_ident[EI_CLASS] != THIS_CLASS || header->e_ident[EI_DATA] != THIS_DATA ||
      header->e_machine != THIS_MACHINE)
    return hk_error(file->error, TIDINGS_E_UNSUPPORTED,
                    "%s is for another machine: ELF class %u, byte order %u, machine %u; this one "
                    "has %u, %u, %u",
                    file->label, (unsigned)header->e_ident[EI_CLASS],
                    (unsigned)header->e_ident[EI_DATA], (unsigned)header->e_machine,
                    (unsigned)THIS_CLASS, (unsigned)THIS_DATA, (unsigned)THIS_MACHINE);
  if (header->e_type != ET_DYN)
    return hk_error(file->error, TIDINGS_E_INVAL,
                    "%s is not a shared object: its ELF type is %u, expected %u (ET_DYN)",
                    file->label, (unsigned)header->e_type, (unsigned)ET_DYN);
  if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
      header->e_phnum == PN_XNUM || (header->e_shoff && header->e_shentsize != sizeof(ElfW(Shdr))))
    return hk_error(
        file->error, TIDINGS_E_INVAL,
        "%s is not a shared object: its header tables have %u program headers of %u bytes",
        file->label, (unsigned)header->e_phnum, (unsigned)header->e_phentsize);
  return TIDINGS_OK;
}

enum { HEADERS_AT_ONCE = 32 };

static uint64_t at_once(uint64_t left) { return left < HEADERS_AT_ONCE ? left : HEADERS_AT_ONCE; }

static int32_t check_segments(const struct elf_file *file, const ElfW(Ehdr) * header) {
  bool loads = false;
  bool dynamic = false;
  ElfW(Phdr) segments[HEADERS_AT_ONCE] = {0};
  for (uint64_t i = 0, some; i < header->e_phnum; i += some) {
    some = at_once(header->e_phnum - i);
    int32_t code = read_at(file, header->e_phoff + i * sizeof *segments, segments,
                           some * sizeof *segments, "its program headers");
    if (code) return code;
    for (const ElfW(Phdr) *segment = segments; segment < segments + some; segment++) {
      if (!inside(file, segment->p_offset, segment->p_filesz))
        return cut_short(file, "its program segments");
      loads = loads || segment->p_type == PT_LOAD;
      dynamic = dynamic || segment->p_type == PT_DYNAMIC;
    }
  }
  if (!loads || !dynamic)
    return hk_error(file->error, TIDINGS_E_INVAL, "%s is not a shared object: it has no %s segment",
                    file->label, loads ? "dynamic" : "loadable");
  return TIDINGS_OK;
}

/* Linkers write the section headers last, so that a file which was still being written fails here
 * if nowhere else. */
static int32_t check_sections(const struct elf_file *file, const ElfW(Ehdr) * header) {
  ElfW(Shdr) sections[HEADERS_AT_ONCE] = {0};
  bool counted =
      header->e_shnum !=
      0; /* 0: the number needs more than 16 bits, and the first section header has it instead */
  uint64_t count = counted ? header->e_shnum : 1;
  for (uint64_t i = 0, some; header->e_shoff && i < count; i += some) {
    some = at_once(count - i);
    int32_t code = read_at(file, header->e_shoff + i * sizeof *sections, sections,
                           some * sizeof *sections, "its section headers");
    if (code) return code;
    if (!counted) count = sections[0].sh_size;
    for (const ElfW(Shdr) *section = sections + !counted; section < sections + some; section++) {
      if (section->sh_type != SHT_NOBITS && !inside(file, section->sh_offset, section->sh_size))
        return cut_short(file, "its sections");
    }
    counted = true;
  }
  return TIDINGS_OK;
}

int32_t hk_elf_check(int fd, const char *label, struct tidings_error *error) {
  struct stat status;
  if (fstat(fd, &status))
    return hk_error(error, TIDINGS_E_STORE, "cannot read %s: %s", label, strerror(errno));
  struct elf_file file = {
      .fd = fd, .size = (uint64_t)status.st_size, .label = label, .error = error};

  char magic[SELFMAG] = {0};
  if (file.size == 0)
    return hk_error(error, TIDINGS_E_INVAL, "%s is not an ELF shared object: it is empty", label);
  int32_t code =
      read_at(&file, 0, magic, file.size < sizeof magic ? (size_t)file.size : sizeof magic,
              "its first bytes");
  if (code) return code;
  if (memcmp(magic, ELFMAG, file.size < sizeof magic ? (size_t)file.size : sizeof magic) != 0)
    return hk_error(error, TIDINGS_E_INVAL,
                    "%s is not an ELF shared object: it does not start with the ELF magic bytes",
                    label);

  ElfW(Ehdr) header;
  code = read_at(&file, 0, &header, sizeof header, "its ELF headers");
  if (!code) code = check_identity(&file, &header);
  if (!code) code = check_segments(&file, &header);
  if (!code) code = check_sections(&file, &header);
  return code;
}

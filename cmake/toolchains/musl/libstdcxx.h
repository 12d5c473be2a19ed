/* SPDX-License-Identifier: MIT
 *
 * libstdcxx.h: included first in C++ that is compiled for musl with the headers of a libstdc++ that
 * was made for glibc, as Debian's is. They take these names from glibc's headers, for locales and
 * streams. We use neither, so the values do not matter. `./dev test portable` checks that no such
 * part of the library is linked.
 */
#ifndef MUSL_LIBSTDCXX_H
#define MUSL_LIBSTDCXX_H

#define __GLIBC_PREREQ(major, minor) 0
#define __locale_t locale_t
enum {
  _ISupper = 1,
  _ISlower = 2,
  _ISalpha = 4,
  _ISdigit = 8,
  _ISxdigit = 16,
  _ISspace = 32,
  _ISprint = 64,
  _ISblank = 128,
  _IScntrl = 256,
  _ISpunct = 512
};

#endif

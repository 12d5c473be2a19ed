# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# layout.sh: sourced. debian_layout TRIPLE sets `layout`: how CMake builds what Debian's packages have. Libraries are Debian's own; the probe's folder
# has the library's name, so that two versions of the library can be there.
debian_layout() {
  # shellcheck disable=SC2034 # for the caller
  layout=(-DTIDINGS_BENCH=OFF -DTIDINGS_LINK_IN=OFF -DTIDINGS_LINK_IN_LMDB=OFF -DCMAKE_INSTALL_PREFIX=/usr "-DCMAKE_INSTALL_LIBDIR=lib/$1" "-DCMAKE_INSTALL_LIBEXECDIR=lib/$1/libtidings-hostkit1"
    -DCMAKE_SKIP_INSTALL_RPATH=ON)
}

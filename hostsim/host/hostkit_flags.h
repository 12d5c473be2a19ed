/* SPDX-License-Identifier: MIT
 *
 * host/hostkit_flags.h: how this build of hostsim loads plugins: a leak checker must be able to
 * name the functions of an image after it was closed.
 */
#ifndef HOSTSIM_HOSTKIT_FLAGS_H
#define HOSTSIM_HOSTKIT_FLAGS_H

#include <tidings/hostkit.h>

#if defined(__SANITIZE_ADDRESS__)
#define HOSTSIM_KEEPS_MAPPED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTSIM_KEEPS_MAPPED 1
#endif
#endif

#ifdef HOSTSIM_KEEPS_MAPPED
#define HOSTSIM_HOSTKIT_FLAGS HOSTKIT_KEEP_MAPPED
#else
#define HOSTSIM_KEEPS_MAPPED 0
#define HOSTSIM_HOSTKIT_FLAGS 0u
#endif

#endif

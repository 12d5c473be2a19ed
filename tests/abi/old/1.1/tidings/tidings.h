/* SPDX-License-Identifier: MIT
 *
 * tidings/tidings.h: the whole contract between an agent host and a tidings plugin. Read abi.h
 * first, for the rules and the words; then entry.h, plugin.h and reply.h.
 */
#ifndef TIDINGS_TIDINGS_H
#define TIDINGS_TIDINGS_H

#include <tidings/abi.h>
#include <tidings/entry.h>
#include <tidings/host.h>
#include <tidings/plugin.h>
#include <tidings/query.h>
#include <tidings/reply.h>
#include <tidings/store.h>
#include <tidings/wake.h>

#endif

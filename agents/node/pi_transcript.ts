// SPDX-License-Identifier: MIT
//
// pi_transcript.ts: finds the deliveries in a session of pi, and the session of a session file. It knows pi's entries, but no calls of tidings.
import { closeSync, openSync, readSync } from "node:fs";
import type { Entry, Mark } from "./pi_types.ts";

const RECENT = 1000; // entries; unsettled deliveries are among the last ones

function mark(entry: Entry): Mark | undefined {
  if (entry.type === "message") return entry.message?.tidings;
  return entry.type === "custom_message" ? entry.details?.tidings : undefined;
}

export function heldDeliveries(entries: Entry[], most = RECENT): string[] {
  const ids = entries.slice(-most).map((entry) => mark(entry)?.delivery);
  return ids.filter((id): id is string => typeof id === "string");
}

/** Returns the id in a session file's first line; undefined: it has none, or was never written. */
export function forkedFrom(file: string): string | undefined {
  const buffer = Buffer.alloc(4096);
  try {
    const fd = openSync(file, "r");
    try {
      const text = buffer.toString("utf8", 0, readSync(fd, buffer, 0, buffer.length, 0));
      const header = JSON.parse(text.split("\n", 1)[0]);
      return header.type === "session" && typeof header.id === "string" ? header.id : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

// SPDX-License-Identifier: MIT
//
// compose.ts: places a reply's texts in a host whose carriers are lists of text parts. Such a host cannot add messages beside a carrier, so their
// texts become parts of it. It knows no host.
import type { Message } from "./tidings.d.ts";

export interface Additions {
  prepend: string; // directly before the carrier's own text, including separators
  append: string;
  before: string[]; // separate parts
  after: string[];
}

const PLACES: Record<string, "before" | "after"> = { prepend: "before", before: "before", append: "after", after: "after", pair: "after" };
const ROLES = new Set(["block", "developer", "user", "tool"]);

/** Throws if this version does not know a role or place; then the carrier is sent unchanged, and the delivery is rolled back. */
export function additions(messages: Message[]): Additions {
  const result: Additions = { prepend: "", append: "", before: [], after: [] };
  for (const { role, place, text } of messages) {
    const side = PLACES[place];
    if (role === "carrier" && place === "prepend") result.prepend += text;
    else if (role === "carrier" && place === "append") result.append += text;
    else if (ROLES.has(role) && side) result[side].push(text);
    else throw new Error(`a message of role ${role} at ${place} is not known here`);
  }
  return result;
}

/** Adds texts to a carrier that is one text. */
export function aroundText(text: string, added: Additions): string {
  return [...added.before, added.prepend + text + added.append, ...added.after].join("\n\n");
}

export interface TextPart {
  type: string;
  text?: string;
}

/** Adds texts to a carrier that is a list of parts, some of them text; the list is changed in place. */
export function aroundParts(parts: TextPart[], added: Additions): void {
  const isText = (part: TextPart) => part.type === "text" && typeof part.text === "string";
  if ((added.prepend || added.append) && !parts.some(isText)) parts.push({ type: "text", text: "" });
  const first = parts.find(isText);
  if (first) first.text = added.prepend + first.text;
  const last = parts.findLast(isText);
  if (last) last.text += added.append;
  parts.unshift(...added.before.map((text) => ({ type: "text", text })));
  parts.push(...added.after.map((text) => ({ type: "text", text })));
}

// SPDX-License-Identifier: MIT
//
// opencode_parts.ts: puts notifications into parts of opencode's messages. A separate part is marked synthetic: the model reads it, and the person's words stay as typed. In a turn
// that was started for notifications, the person sees them too. opencode shows parts in the order of their ids, so a new part gets an id beside its neighbour's.
import { type Additions, aroundParts, aroundText } from "./compose.ts";
import type { Mark, Part, StoredMessage, ToolOutput } from "./opencode_types.ts";

const ID = /^prt_([0-9a-f]{12})([0-9A-Za-z]{14})$/; // a time, and something random
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function takesNeighbours(parts: Part[]): boolean {
  return parts.length > 0 && ID.test(parts[0].id) && ID.test(parts[parts.length - 1].id);
}

function neighbourId(id: string, step: bigint): string {
  const time = BigInt(`0x${id.slice("prt_".length, "prt_".length + 12)}`) + step;
  let random = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(14))) random += LETTERS[byte % LETTERS.length];
  return `prt_${time.toString(16).padStart(12, "0")}${random}`;
}

function insert(parts: Part[], text: string, atFront: boolean, mark: Mark, synthetic: boolean): void {
  const beside = atFront ? parts[0] : parts[parts.length - 1];
  const id = neighbourId(beside.id, atFront ? -1n : 1n);
  const part: Part = { id, sessionID: beside.sessionID, messageID: beside.messageID, type: "text", text, ...(synthetic && { synthetic }), metadata: { tidings: mark } };
  if (atFront) parts.unshift(part);
  else parts.push(part);
}

function mergeMark(part: Part, mark: Mark): void {
  part.metadata = { ...part.metadata, tidings: { ...part.metadata?.tidings, ...mark } };
}

/** Adds notifications and the mark to a prompt. `shown`: the person sees them too. False: the prompt has no suitable part. */
export function addToPrompt(parts: Part[], added: Additions, mark: Mark, shown = false): boolean {
  const front = added.before.map((text) => `${text}\n\n`).join("") + added.prepend;
  const back = added.append + added.after.map((text) => `\n\n${text}`).join("");
  const own = parts.find((part) => part.type === "text");
  if (!front && !back) {
    if (own) mergeMark(own, mark);
    return own !== undefined;
  }
  if (!takesNeighbours(parts)) return addInside(own, added, mark);
  if (front) insert(parts, front, true, back ? {} : mark, !shown);
  if (back) insert(parts, back, false, mark, !shown);
  return true;
}

/** Adds them inside the person's own part, if opencode's ids have an unknown form. */
function addInside(own: Part | undefined, added: Additions, mark: Mark): boolean {
  if (!own) return false;
  own.text = aroundText(own.text ?? "", added);
  mergeMark(own, mark);
  return true;
}

/** Adds notifications to a tool's result. False: it has no text and no place for one. */
export function addToResult(output: ToolOutput, added: Additions, mark: Mark): boolean {
  if (typeof output.output === "string") output.output = aroundText(output.output, added);
  else if (Array.isArray(output.content)) aroundParts(output.content, added);
  else return false;
  output.metadata = { ...output.metadata, tidings: mark };
  return true;
}

const REMINDER = "<system-reminder>"; // opencode adds it after a file that it has read

/** Makes a tool's output harmless; the text that opencode has added stays. */
export function neutralize(tool: string, output: ToolOutput, harmless: (text: string) => string): void {
  for (const part of Array.isArray(output.content) ? output.content : []) if (part.type === "text" && part.text) part.text = harmless(part.text);
  if (typeof output.output !== "string") return;
  const loaded = output.metadata?.loaded;
  const end = tool === "read" && Array.isArray(loaded) && loaded.length ? output.output.lastIndexOf(REMINDER) : -1;
  output.output = end < 0 ? harmless(output.output) : harmless(output.output.slice(0, end)) + output.output.slice(end);
}

/** Does the text hold all additions? opencode may shorten a result after it was changed. */
export function holds(text: string | undefined, added: Additions): boolean {
  return [added.prepend, added.append, ...added.before, ...added.after].every((piece) => text?.includes(piece.trim()));
}

export function heldDeliveries(messages: StoredMessage[]): string[] {
  const marks = messages.flatMap(({ parts }) => parts.map((part) => part.metadata?.tidings ?? part.state?.metadata?.tidings));
  return marks.map((mark) => mark?.delivery).filter((id): id is string => typeof id === "string");
}

/** Returns the paths that a tool call has changed, if the tool reports them. */
export function editedPaths(tool: string, args: unknown, metadata: Record<string, unknown> | undefined): string[] {
  const given = args as { filePath?: unknown } | undefined;
  if (tool === "write" || tool === "edit" || tool === "multiedit") return typeof given?.filePath === "string" ? [given.filePath] : [];
  if (tool !== "apply_patch" && tool !== "patch") return [];
  const files = Array.isArray(metadata?.files) ? (metadata.files as { filePath?: unknown; movePath?: unknown }[]) : [];
  return files.flatMap((file) => [file.filePath, file.movePath]).filter((path): path is string => typeof path === "string");
}

// SPDX-License-Identifier: MIT
//
// compose.mjs: composes what to send from the carrier's text and a reply's parts, by the rules of hostkit_compose. Pure.

// The section of the result for each voice and place. The prefix and the suffix are in the carrier's own text.
const MESSAGE = { before: "before", after: "after" };
const SECTIONS = {
  carrier: { prepend: "prefix", append: "suffix" },
  block: { prepend: "blockBefore", before: "blockBefore", append: "blockAfter", after: "blockAfter" },
  developer: MESSAGE,
  user: MESSAGE,
  tool: { pair: "pair" },
};

/**
 * Throws if this version does not know a voice or place; then the delivery is rolled back, and the carrier is sent unchanged, unless it is a request that
 * names messages.
 */
export function compose(content, parts) {
  const sections = { before: [], blockBefore: [], prefix: [], suffix: [], blockAfter: [], after: [], pair: [] };
  for (const { voice, place, text, callId, tool } of parts) {
    const section = Object.hasOwn(SECTIONS, voice) ? SECTIONS[voice][place] : undefined;
    if (section === undefined) {
      const what = `a part of voice ${voice} at ${place} is not known here: send the carrier unchanged (but no request that names messages)`;
      throw Object.assign(new Error(what), { code: "TIDINGS_E_INVAL" });
    }
    sections[section].push({ voice, isCarrier: false, text, callId, tool });
  }
  const joined = (list) => list.map((part) => part.text).join("");
  const carrier = { voice: "carrier", isCarrier: true, text: joined(sections.prefix) + content + joined(sections.suffix) };
  return [...sections.before, ...sections.blockBefore, carrier, ...sections.blockAfter, ...sections.after, ...sections.pair];
}

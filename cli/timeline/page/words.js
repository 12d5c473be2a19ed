/* SPDX-License-Identifier: MIT
 *
 * words.js: text into the page. Text of notifications comes from anywhere: it goes into the DOM as textContent, with what cannot be seen made visible.
 */
const byId = (id) => document.getElementById(id);

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

function visible(text) {
  return text.replace(HIDDEN, (one) => `{U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}}`);
}

/* On one line, not longer than `most`. */
function short(text, most) {
  const line = visible(text.length > 4 * most ? text.slice(0, 4 * most) : text).replace(/\s+/g, ' ');
  const letters = Array.from(line);
  return letters.length > most ? letters.slice(0, most - 1).join('') + '\u2026' : line;
}

/* An element with a text or with children. */
function element(name, content, className) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (typeof content === 'string') node.textContent = content;
  else if (content) node.append(...content);
  return node;
}

function plural(count, word) {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

function isoTime(ms) {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
  if (ms < 86400000) return `${Math.floor(ms / 3600000)} h ${Math.round(ms % 3600000 / 60000)} min`;
  return `${Math.floor(ms / 86400000)} d ${Math.round(ms % 86400000 / 3600000)} h`;
}

/* Steps of the time axis, and how precisely each is labelled. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5,
  864e5, 1728e5, 6048e5, 2592e6, 7776e6, 31536e6];

function axisStep(span, ticks) {
  return STEPS.find((step) => span / step <= ticks) || STEPS[STEPS.length - 1];
}

function axisLabel(ms, step) {
  const iso = new Date(ms).toISOString();
  if (step >= 864e5) return iso.slice(0, 10);
  if (step >= 6e4) return iso.slice(11, 16);
  return step >= 1000 ? iso.slice(11, 19) : iso.slice(11, 23);
}

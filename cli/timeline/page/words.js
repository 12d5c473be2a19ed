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

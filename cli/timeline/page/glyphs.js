/* SPDX-License-Identifier: MIT
 *
 * glyphs.js: how an outcome looks. Its colour, and its shape for those who do not see the colour.
 */
const theme = { colors: {} };
const COLOR_NAMES = [...OUTCOMES, 'idle', 'starting', 'busy', 'retrying', 'waiting', 'error', 'paper', 'panel', 'sunken', 'accent', 'line', 'line-soft', 'ink', 'ink-2', 'ink-3',
  'focus', 'area', 'area-line', 'stripe'];

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of COLOR_NAMES) theme.colors[name] = style.getPropertyValue(`--${name}`).trim();
}

const outcomeColor = (outcome) => theme.colors[OUTCOMES[outcome]];

function polygon(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.fill();
}

function cross(context, x, y, r) {
  context.beginPath();
  context.moveTo(x - r, y - r);
  context.lineTo(x + r, y + r);
  context.moveTo(x - r, y + r);
  context.lineTo(x + r, y - r);
  context.stroke();
}

function ring(context, x, y, r) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.fillStyle = theme.colors.paper;
  context.fill();
  context.stroke();
}

const GLYPHS = {
  delivered: (context, x, y, r) => { context.beginPath(); context.arc(x, y, r, 0, 2 * Math.PI); context.fill(); },
  leased: (context, x, y, r) => ring(context, x, y, r - 0.5),
  pending: (context, x, y, r) => polygon(context, [[x - r, y - r], [x + r, y], [x - r, y + r]]),
  superseded: (context, x, y, r) => polygon(context, [[x, y - r - 0.5], [x + r + 0.5, y + r - 0.5], [x - r - 0.5, y + r - 0.5]]),
  annihilated: (context, x, y, r) => cross(context, x, y, r - 0.5),
  withdrawn: (context, x, y, r) => { context.fillStyle = theme.colors.paper; context.fillRect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1); context.strokeRect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1); },
  expired: (context, x, y, r) => polygon(context, [[x, y - r - 1], [x + r + 1, y], [x, y + r + 1], [x - r - 1, y]]),
  filtered: (context, x, y, r) => context.fillRect(x - 1, y - r - 1, 2.5, 2 * r + 2),
  dropped: (context, x, y, r) => polygon(context, [[x - r - 0.5, y - r + 0.5], [x + r + 0.5, y - r + 0.5], [x, y + r + 0.5]]),
  closed: (context, x, y, r) => context.fillRect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1),
};

function drawGlyph(context, outcome, x, y, r) {
  context.fillStyle = context.strokeStyle = outcomeColor(outcome);
  context.lineWidth = 1.8;
  GLYPHS[OUTCOMES[outcome]](context, x, y, r);
}

/* As a small picture beside a word. */
function glyphCanvas(outcome, size) {
  const canvas = element('canvas'), scale = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(size * scale);
  canvas.dataset.outcome = outcome;
  canvas.setAttribute('aria-hidden', 'true');
  paintGlyph(canvas);
  return canvas;
}

function paintGlyph(canvas) {
  const context = canvas.getContext('2d'), size = canvas.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, size, size);
  context.scale(size / 14, size / 14);
  drawGlyph(context, Number(canvas.dataset.outcome), 7, 7, 4.5);
}

/* A canvas of that size in CSS pixels, ready to draw on. */
function prepare(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = 'middle';
  return context;
}

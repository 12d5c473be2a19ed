/* SPDX-License-Identifier: MIT
 *
 * draw.js: the upper picture: the whole session in small, the axis, the agent, turns, deliveries and what was pending.
 */
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const BANDS = { overview: [8, 26], axis: [38, 20], agent: [60, 20], messages: [82, 20], turns: [106, 20], deliveries: [130, 22], pending: [158, 46] };
const TOP_HEIGHT = 210;
const CARRIER_OUTCOME = { committed: 0, leased: 1, rolled_back: 6, rewound: 4 };

/* -- shared by both ---------------------------------------------------------------------------- */

function xOf(view, ms) {
  return view.gutter + (ms - view.start) / (view.end - view.start) * (view.width - view.gutter);
}

function timeAt(view, x) {
  return view.start + (x - view.gutter) / (view.width - view.gutter) * (view.end - view.start);
}

/* A phone has no room for long names. */
const isNarrow = (view) => view.gutter < 120;

function cutTo(context, text, width) {
  let label = text;
  while (label.length > 1 && context.measureText(label).width > width) label = label.slice(0, -2) + '\u2026';
  return label;
}

function drawLabel(context, view, text, y, count) {
  const left = isNarrow(view) ? 6 : 16;
  context.font = FONT;
  context.textAlign = 'left';
  context.fillStyle = theme.colors.ink;
  context.fillText(cutTo(context, short(text, 40), view.gutter - left - 8), left, y);
  if (!count) return;
  context.fillStyle = theme.colors['ink-3'];
  context.fillText(count, left, y + 14);
}

function clipTime(context, view, height) {
  context.save();
  context.beginPath();
  context.rect(view.gutter, 0, view.width - view.gutter, height);
  context.clip();
}

function eachTick(view, visit) {
  const step = axisStep(view.end - view.start, Math.max(2, (view.width - view.gutter) / 96)), offset = offsetAt(view.start);
  for (let ms = Math.ceil((view.start + offset) / step) * step - offset; ms <= view.end; ms += step) visit(Math.round(xOf(view, ms)) + 0.5, ms, step);
}

function drawGrid(context, view, top, bottom) {
  context.strokeStyle = theme.colors['line-soft'];
  context.lineWidth = 1;
  context.beginPath();
  eachTick(view, (x) => { context.moveTo(x, top); context.lineTo(x, bottom); });
  context.stroke();
}

function drawSelectedTime(context, view, top, height) {
  if (!view.selected || view.selected.time === undefined) return;
  const x = Math.round(xOf(view, view.selected.time)) + 0.5;
  context.strokeStyle = theme.colors.focus;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
}

/* The time that retention has removed is hatched and labelled, because it was not silent. */
function drawForgotten(context, view, model, top, height, named) {
  const right = Math.min(view.width, xOf(view, model.known));
  if (!model.known || right <= view.gutter) return;
  context.save();
  context.beginPath();
  context.rect(view.gutter, top, right - view.gutter, height);
  context.clip();
  context.fillStyle = theme.colors.sunken;
  context.fillRect(view.gutter, top, right - view.gutter, height);
  context.strokeStyle = theme.colors.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = view.gutter - height; x < right; x += 8) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
  context.fillStyle = theme.colors['ink-2'];
  context.fillRect(right - 1, top, 1.5, height);
  if (named) nameForgotten(context, view, model, right);
}

/* In the hatched part if that is wide enough, else over the picture of all of it. */
function nameForgotten(context, view, model, right) {
  const words = [model.forgotten.toLocaleString('en'), 'forgotten', `before ${shortTime(model.known, model.data.time)}`], [, height] = BANDS.pending;
  context.font = FONT;
  context.textAlign = 'left';
  const fits = right - view.gutter > Math.max(...words.map((word) => context.measureText(word).width)) + 10;
  const lines = fits ? words : [words.join(' ')], step = height / 3;
  lines.forEach((text, i) => {
    const x = view.gutter + 5, y = fits ? BANDS.pending[0] + (i + 0.5) * step : BANDS.overview[0] + BANDS.overview[1] / 2;
    context.fillStyle = theme.colors.paper;
    context.fillRect(x - 3, y - step / 2, context.measureText(text).width + 6, step);
    context.fillStyle = theme.colors.ink;
    context.fillText(text, x, y);
  });
}

const overviewWidth = (view) => view.width - view.gutter - 16;

function drawOverview(context, view, model) {
  const [y, height] = BANDS.overview, left = view.gutter, width = overviewWidth(view);
  const { start, end } = model.range, bins = Math.max(1, Math.floor(width / 3));
  const counts = new Uint32Array(bins);
  for (let i = 0; i < model.count; i++)
    if (model.match[i]) counts[Math.min(bins - 1, Math.floor((model.from[i] - start) / (end - start) * bins))]++;
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  context.fillStyle = theme.colors.panel;
  context.fillRect(left, y, width, height);
  context.fillStyle = theme.colors['ink-3'];
  for (let i = 0; i < bins; i++) {
    const bar = counts[i] && Math.max(2, Math.sqrt(counts[i] / most) * (height - 4));
    context.fillRect(left + i / bins * width, y + height - bar, Math.max(1, width / bins - 1), bar);
  }
  const from = left + Math.max(0, (view.start - start) / (end - start)) * width;
  const to = left + Math.min(1, (view.end - start) / (end - start)) * width;
  context.globalAlpha = 0.14;
  context.fillStyle = theme.colors.focus;
  context.fillRect(from, y, Math.max(2, to - from), height);
  context.globalAlpha = 1;
  context.strokeStyle = theme.colors.line;
  context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
  context.strokeStyle = theme.colors.focus;
  context.strokeRect(from + 0.5, y + 0.5, Math.max(2, to - from) - 1, height - 1);
  drawLabel(context, view, isNarrow(view) ? 'all' : 'all of it', y + height / 2);
}

function drawAxis(context, view) {
  const [y, height] = BANDS.axis;
  context.font = FONT;
  context.fillStyle = theme.colors['ink-2'];
  context.textAlign = 'left';
  context.fillText(isNarrow(view) ? zoneName(view.start) : `${dayOf(view.start)} ${zoneName(view.start)}`, isNarrow(view) ? 6 : 16, y + height / 2);
  context.textAlign = 'center';
  eachTick(view, (x, ms, step) => {
    if (x > view.gutter + 24 && x < view.width - 24) context.fillText(axisLabel(ms, step), x, y + height / 2);
  });
}

function drawAgent(context, view, model) {
  const [y, height] = BANDS.agent;
  let free = -Infinity;
  context.font = FONT;
  context.textAlign = 'left';
  for (const mark of model.marks) {
    const x = Math.round(xOf(view, mark.time)), label = short(mark.label, 24);
    if (x < view.gutter - 200 || x > view.width) continue;
    context.fillStyle = theme.colors['ink-2'];
    context.fillRect(x, y + 1, 1.5, height - 2);
    polygon(context, [[x, y + 1], [x + 7, y + 4.5], [x, y + 8]]);
    const width = context.measureText(label).width;
    if (x + 10 < free || x + 10 + width > view.width) continue;
    context.fillText(label, x + 10, y + height / 2 + 1);
    free = x + 22 + width;
  }
}

/* The state between two transitions; where nothing happened yet, what the first one came from. */
function drawTurns(context, view, model) {
  const [y, height] = BANDS.turns, steps = model.data.transitions;
  let last = -1;
  context.font = FONT;
  context.textAlign = 'left';
  for (let i = -1; i < steps.length; i++) {
    const state = i < 0 ? steps[0] && steps[0].from : steps[i].to;
    const from = i < 0 ? view.start : steps[i].time, to = i + 1 < steps.length ? steps[i + 1].time : Math.max(model.data.time, view.end);
    const left = Math.max(view.gutter, xOf(view, from)), right = Math.min(view.width, xOf(view, to));
    if (!state || right < view.gutter || left > view.width || right - last < 0.5) continue;
    last = right;
    context.fillStyle = theme.colors[state === 'idle' ? 'ink-3' : state] || theme.colors['ink-3'];
    if (state === 'idle') context.fillRect(left, y + height / 2 - 0.5, right - left, 1);
    else fillState(context, left, y, Math.max(1, right - left), height);
    if (state === 'idle' || right - left < context.measureText(state).width + 10) continue;
    context.fillStyle = theme.colors.ink;
    context.fillText(state, left + 5, y + height / 2);
  }
  drawSteps(context, view, steps, y, height);
}

/* With an edge, so that it can be seen on any ground. */
function fillState(context, x, y, width, height) {
  context.fillRect(x, y, width, height);
  context.fillStyle = theme.colors['ink-3'];
  context.fillRect(x, y, width, 1);
  context.fillRect(x, y + height - 1, width, 1);
  if (width > 3) context.fillRect(x, y, 1, height);
}

function drawSteps(context, view, steps, y, height) {
  let last = -1;
  if (steps.filter((step) => step.time >= view.start && step.time <= view.end).length > (view.width - view.gutter) / 5) return;
  context.fillStyle = theme.colors['ink-2'];
  for (const step of steps) {
    const x = Math.round(xOf(view, step.time));
    if (x === last || x < view.gutter || x > view.width) continue;
    context.fillRect(last = x, y + height - 4, 1, 4);
  }
}

/* From its submission until it was over. A message of a trigger is hollow. */
function drawMessages(context, view, model) {
  const [y, height] = BANDS.messages, middle = y + height / 2;
  let free = -Infinity;
  context.font = FONT;
  context.textAlign = 'left';
  model.messages.forEach((message, i) => {
    const x = xOf(view, message.time), end = Math.min(view.width, xOf(view, message.end || view.now));
    const chosen = view.selected && view.selected.message === i, label = short(message.text, 60);
    if (end < view.gutter - 5 || x > view.width + 5) return;
    context.fillStyle = context.strokeStyle = theme.colors[message.state === 'cancelled' || message.state === 'closed' ? 'ink-3' : 'accent'];
    context.lineWidth = 1.5;
    context.fillRect(x, middle - 0.5, Math.max(0, end - x), 1);
    if (message.trigger) context.strokeRect(x - 3, middle - 3, 6, 6);
    else polygon(context, [[x - 4, middle - 5], [x + 5, middle - 5], [x + 5, middle + 2], [x, middle + 2], [x - 4, middle + 6]]);
    if (chosen) focusBox(context, x, middle);
    if (x < free || isNarrow(view)) return;
    const fitting = cutTo(context, label, nextMessage(view, model, i) - x - 12);
    if (fitting.length < 8 && fitting !== label) return;
    const width = context.measureText(fitting).width;
    context.fillStyle = theme.colors.paper;
    context.fillRect(x + 6, middle - 7, width + 6, 14);
    context.fillStyle = theme.colors['ink-2'];
    context.fillText(fitting, x + 9, middle);
    free = x + 14 + width;
  });
}

const nextMessage = (view, model, i) => (i + 1 < model.messages.length ? Math.min(xOf(view, model.messages[i + 1].time) - 6, view.width) : view.width);

function focusBox(context, x, y) {
  context.strokeStyle = theme.colors.focus;
  context.lineWidth = 2;
  context.strokeRect(x - 8, y - 9, 16, 18);
}

function drawCarriers(context, view, model) {
  const [y, height] = BANDS.deliveries, middle = y + height / 2;
  const last = {}, seen = model.data.deliveries.filter((one) => one.time >= view.start && one.time <= view.end).length;
  const crowded = seen > (view.width - view.gutter) / 7;
  model.data.deliveries.forEach((delivery, i) => {
    const x = xOf(view, delivery.time), chosen = view.selected && view.selected.delivery === i;
    if (x < view.gutter - 5 || x > view.width + 5 || (x - last[delivery.outcome] < 1.5 && !chosen)) return;
    last[delivery.outcome] = x;
    context.fillStyle = context.strokeStyle = outcomeColor(CARRIER_OUTCOME[delivery.outcome]);
    context.lineWidth = 1.8;
    if (crowded && !chosen) {
      context.fillRect(x - 0.5, middle - 5, 1, 10);
      return;
    }
    const removal = delivery.carrier === 'none' || delivery.carrier === 'closed';
    if (delivery.outcome === 'rolled_back' || delivery.outcome === 'rewound') cross(context, x, middle, 4);
    else if (removal) context.fillRect(x - 1, middle - 4, 2, 8);
    else if (delivery.carrier === 'chat_request') context.fillRect(x - 4, middle - 4, 8, 8);
    else GLYPHS[delivery.outcome === 'leased' ? 'leased' : 'delivered'](context, x, middle, 4.5);
    if (!chosen) return;
    focusBox(context, x, middle);
  });
}

function drawPending(context, view, steps) {
  const [y, height] = BANDS.pending, bottom = y + height, { times, counts, most } = steps;
  const scale = (height - 6) / Math.max(most, 1);
  context.fillStyle = theme.colors.area;
  context.strokeStyle = theme.colors['area-line'];
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(view.gutter, bottom);
  let level = 0, i = 0;
  for (; i < times.length && times[i] < view.start; i++) level = counts[i];
  context.lineTo(view.gutter, bottom - level * scale);
  while (i < times.length && times[i] <= view.end) { // of each column of pixels the highest and the last
    const column = Math.round(xOf(view, times[i]));
    let top = counts[i];
    context.lineTo(column, bottom - level * scale);
    for (; i < times.length && Math.round(xOf(view, times[i])) === column; i++) top = Math.max(top, level = counts[i]);
    context.lineTo(column, bottom - top * scale);
    context.lineTo(column, bottom - level * scale);
  }
  const end = Math.min(view.width, xOf(view, view.now));
  context.lineTo(end, bottom - level * scale);
  context.stroke();
  context.lineTo(end, bottom);
  context.fill();
  context.fillStyle = theme.colors['line'];
  context.fillRect(view.gutter, bottom, view.width - view.gutter, 1);
}

function drawTop(canvas, view, model, steps) {
  const context = prepare(canvas, view.width, TOP_HEIGHT);
  drawGrid(context, view, 60, TOP_HEIGHT);
  context.fillStyle = theme.colors.paper;
  context.fillRect(0, 0, view.gutter, TOP_HEIGHT);
  drawOverview(context, view, model);
  drawAxis(context, view);
  for (const [name, [y, height]] of Object.entries(BANDS))
    if (name !== 'overview' && name !== 'axis' && name !== 'pending') drawLabel(context, view, name, y + height / 2);
  drawLabel(context, view, 'pending', BANDS.pending[0] + 16, `${isNarrow(view) ? '\u2264' : 'at most'} ${steps.most.toLocaleString('en')}`);
  clipTime(context, view, TOP_HEIGHT);
  drawForgotten(context, view, model, BANDS.agent[0], BANDS.pending[0] + BANDS.pending[1] - BANDS.agent[0], false);
  drawAgent(context, view, model);
  drawTurns(context, view, model);
  drawMessages(context, view, model);
  drawCarriers(context, view, model);
  drawPending(context, view, steps);
  drawForgotten(context, view, model, BANDS.pending[0], BANDS.pending[1], true);
  drawSelectedTime(context, view, BANDS.axis[0], TOP_HEIGHT);
  context.restore();
}

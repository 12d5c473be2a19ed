/* SPDX-License-Identifier: MIT
 *
 * draw_lanes.js: the producers: each notification as a line, or where there are too many of them, how many were pushed when.
 */
const rowMiddle = (lane, row) => lane.y + 7 + (row + 0.5) * lane.rowHeight;
const LINE_WIDTHS = [4, 2.5, 1.5, 1]; // by level

/* -- columns, where lines would lie on each other ----------------------------------------------- */

const COLUMN_WIDTH = 4;

/* The items of a lane that were pushed in what is seen, as places in lane.items: from the first to before the last. */
function seenOf(view, model, lane) {
  const place = (ms) => {
    let from = 0, to = lane.items.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (model.from[lane.items[middle]] < ms) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return [place(view.start), place(view.end)];
}

function isCrowded(view, model, lane) {
  const [first, last] = seenOf(view, model, lane);
  return last - first > lane.rowCount * (view.width - view.gutter) / 24;
}

/* How many were pushed, a column for a few pixels of time, by outcome. */
function drawColumns(context, view, model, lane) {
  const columns = Math.max(1, Math.ceil((view.width - view.gutter) / COLUMN_WIDTH)), sums = new Uint32Array(columns);
  const counts = new Uint32Array(columns * OUTCOMES.length), [first, last] = seenOf(view, model, lane);
  for (let at = first; at < last; at++) {
    const item = lane.items[at];
    if (!model.match[item]) continue;
    const column = Math.min(columns - 1, Math.floor((xOf(view, model.from[item]) - view.gutter) / COLUMN_WIDTH));
    counts[column * OUTCOMES.length + model.outcome[item]]++;
    sums[column]++;
  }
  const scale = (lane.height - 10) / sums.reduce((a, b) => Math.max(a, b), 1);
  for (let outcome = 0, base = new Float64Array(columns).fill(lane.y + lane.height - 4); outcome < OUTCOMES.length; outcome++) {
    context.fillStyle = outcomeColor(outcome);
    for (let column = 0; column < columns; column++) {
      const height = counts[column * OUTCOMES.length + outcome] * scale;
      base[column] -= height;
      if (height) context.fillRect(view.gutter + column * COLUMN_WIDTH, base[column], COLUMN_WIDTH - 1, height);
    }
  }
}

/* -- lines ------------------------------------------------------------------------------------- */

/* A line over one of the same colour is not drawn again, so 100,000 items take no longer than the
 * pixels that they cover. */
function drawLines(context, view, model, lane, delivered) {
  const drawn = new Float64Array(lane.rowCount * OUTCOMES.length).fill(-1e9), glyphs = new Float64Array(lane.rowCount).fill(-1e9);
  const radius = Math.min(4.5, lane.rowHeight / 2 + 0.5);
  for (let at = 0; at < lane.items.length; at++) {
    const item = lane.items[at], outcome = model.outcome[item], row = lane.rows[at];
    if (model.from[item] > view.end) break;
    if (!model.match[item] || model.to[item] < view.start || (outcome === DELIVERED) !== delivered) continue;
    const from = Math.max(view.gutter, xOf(view, model.from[item])), to = Math.min(view.width + 20, xOf(view, model.to[item]));
    const key = row * OUTCOMES.length + outcome, y = rowMiddle(lane, row);
    if (to > drawn[key] + 0.5) {
      const thick = Math.min(LINE_WIDTHS[model.level[item]], lane.rowHeight - 1);
      context.fillStyle = outcomeColor(outcome);
      context.fillRect(from, y - thick / 2, Math.max(1, to - from), thick);
      drawn[key] = to;
    }
    if (to - glyphs[row] < radius * 1.6) continue;
    context.fillStyle = outcomeColor(outcome);
    context.fillRect(from - 0.5, y - 3, 1.5, 6);
    drawGlyph(context, outcome, Math.min(to, view.width - 6), y, radius);
    glyphs[row] = to;
  }
}

function drawSelectedLine(context, view, model, lane) {
  const at = lane.items.indexOf(view.selected.item);
  if (at < 0) return;
  const item = view.selected.item, y = rowMiddle(lane, lane.rows[at]);
  const from = xOf(view, model.from[item]), to = Math.min(view.width, xOf(view, model.to[item]));
  context.fillStyle = outcomeColor(model.outcome[item]);
  context.fillRect(from, y - 2, Math.max(1, to - from), 4);
  drawGlyph(context, model.outcome[item], Math.min(to, view.width - 6), y, 5);
  context.strokeStyle = theme.colors.focus;
  context.lineWidth = 2;
  context.beginPath();
  context.roundRect(from - 6, y - 9, Math.max(0, Math.min(to, view.width - 2) - from) + 12, 18, 6);
  context.stroke();
}

const laneCount = (lane) => (lane.items.length === lane.all ? '' : `${lane.items.length.toLocaleString('en')} of `) + lane.all.toLocaleString('en');

function drawLanes(canvas, view, model, lanes) {
  const height = lanes.length ? lanes[lanes.length - 1].y + lanes[lanes.length - 1].height : 0;
  const context = prepare(canvas, view.width, height);
  lanes.forEach((lane, i) => {
    if (i % 2 === 0) return;
    context.fillStyle = theme.colors.stripe;
    context.fillRect(0, lane.y, view.width, lane.height);
  });
  drawGrid(context, view, 0, height);
  drawForgotten(context, view, model, 0, height, false);
  for (const lane of lanes) {
    lane.crowded = isCrowded(view, model, lane);
    drawLabel(context, view, lane.label, lane.y + (lane.height >= 44 ? 18 : lane.height / 2), lane.height >= 44 ? laneCount(lane) : '');
    if (lane.crowded && lane.height >= 64 && !isNarrow(view)) context.fillText('zoom in for lines', 16, lane.y + 46);
    clipTime(context, view, height);
    if (lane.crowded) drawColumns(context, view, model, lane);
    else [true, false].forEach((delivered) => drawLines(context, view, model, lane, delivered));
    if (view.selected && view.selected.item !== undefined) drawSelectedLine(context, view, model, lane);
    context.restore();
  }
  clipTime(context, view, height);
  drawSelectedTime(context, view, 0, height);
  context.restore();
}

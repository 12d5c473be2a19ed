/* SPDX-License-Identifier: MIT
 *
 * view.js: what is seen and what is selected; drawing again when one of them changes.
 */
const LEAST_SPAN = 5; // milliseconds

function makeView(model) {
  const view = { start: model.range.start, end: model.range.end, now: model.data.time, width: 0, gutter: 0, selected: null };
  const top = byId('top'), lanesCanvas = byId('lanes'), box = byId('scroller'), lanes = makeLanes(model);
  let steps = pendingSteps(model), asked = false;

  function draw() {
    asked = false;
    view.width = Math.max(240, box.clientWidth); // what its scrollbar leaves: both pictures have one axis
    view.gutter = view.width < 560 ? 76 : 132;
    top.style.width = lanesCanvas.style.width = `${view.width}px`;
    const height = lanes.length ? lanes[lanes.length - 1].y + lanes[lanes.length - 1].height : 0;
    top.style.height = `${TOP_HEIGHT}px`;
    lanesCanvas.style.height = `${height}px`;
    drawTop(top, view, model, steps);
    drawLanes(lanesCanvas, view, model, lanes);
  }

  function show(start, end) {
    const whole = model.range.end - model.range.start;
    const span = Math.min(Math.max(end - start, LEAST_SPAN), Math.max(whole, LEAST_SPAN));
    const from = Math.min(Math.max((start + end - span) / 2, model.range.start - span / 2), model.range.end - span / 2);
    view.start = from;
    view.end = from + span;
    redraw();
  }

  function redraw() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  }

  return {
    view, lanes, draw, redraw, show,
    resized: () => { if (view.width !== Math.max(240, box.clientWidth)) redraw(); },
    fit: () => show(model.range.start, model.range.end),
    zoom: (factor, at) => show(at - (at - view.start) * factor, at + (view.end - at) * factor),
    pan: (share) => show(view.start + share * (view.end - view.start), view.end + share * (view.end - view.start)),
    refilter: () => {
      lanes.splice(0, lanes.length, ...makeLanes(model));
      steps = pendingSteps(model);
      byId('nothing').hidden = lanes.length > 0;
      redraw();
    },
    /* Brings a stretch of time into sight. */
    reveal: (from, to) => {
      const span = view.end - view.start;
      if (from >= view.start && Math.min(to, view.now) <= view.end) return;
      if (to - from < span * 0.9) show((from + to - span) / 2, (from + to + span) / 2);
      else if (from < view.start || from > view.end) show(from - span * 0.1, from + span * 0.9);
    },
    /* Scrolls an item's lane into sight. */
    revealLane: (item) => {
      const lane = lanes.find((one) => one.items.includes(item));
      if (!lane) return;
      const y = rowMiddle(lane, lane.rows[lane.items.indexOf(item)]);
      if (y < box.scrollTop + 12 || y > box.scrollTop + box.clientHeight - 12) box.scrollTop = y - box.clientHeight / 2;
    },
  };
}

/* -- what is under a point --------------------------------------------------------------------- */

const NEAR = 8; // pixels

function nearest(list, distance) {
  let best = null, least = NEAR;
  list.forEach((one, i) => {
    const away = distance(one, i);
    if (away <= least) [best, least] = [i, away];
  });
  return best;
}

function hitTop(view, model, x, y) {
  const within = (name) => y >= BANDS[name][0] - 2 && y < BANDS[name][0] + BANDS[name][1] + 2;
  const away = (one) => Math.abs(xOf(view, one.time) - x);
  if (within('deliveries')) return { delivery: nearest(model.data.deliveries, away) };
  if (within('messages')) return { message: nearest(model.messages, away) };
  if (within('turns')) return { step: nearest(model.data.transitions, away) };
  if (within('agent')) return { mark: nearest(model.marks, away) };
  return {};
}

/* The line under the point, or the one whose end is nearest. */
function hitLanes(view, model, lanes, x, y) {
  const lane = lanes.find((one) => y >= one.y && y < one.y + one.height);
  let best = null, least = Infinity;
  for (let at = 0; lane && at < lane.items.length; at++) {
    const item = lane.items[at], off = lane.crowded ? 0 : Math.abs(rowMiddle(lane, lane.rows[at]) - y);
    if (!model.match[item] || off > Math.max(lane.rowHeight / 2 + 2, 6)) continue;
    const from = xOf(view, model.from[item]), to = lane.crowded ? from : Math.min(xOf(view, model.to[item]), view.width);
    if (x < from - NEAR || x > to + NEAR) continue;
    const away = off + Math.min(Math.abs(x - to), Math.abs(x - from)) / 50 + (x < from || x > to ? 2 : 0);
    if (away < least) [best, least] = [item, away];
  }
  return { item: best };
}

/* SPDX-License-Identifier: MIT
 *
 * lanes.js: where each notification is drawn: a lane for each producer, in it a row that is free while the notification was pending.
 */
const MOST_LANES = 16, LANES_HEIGHT = 1500, MOST_ROWS = 60;

/* First fit. A line keeps a little room after it, so that its end can be seen; without a free row it shares the one that is free first. */
function packRows(model, order, mostRows, room) {
  const ends = new Float64Array(mostRows), rows = new Uint8Array(order.length);
  let used = 0;
  for (let at = 0; at < order.length; at++) {
    const item = order[at], from = model.from[item], to = Math.max(model.to[item], from) + room;
    let row = 0, first = 0; // the row that is free first
    while (row < used && ends[row] > from) {
      if (ends[row] < ends[first]) first = row;
      row++;
    }
    if (row === used && used < mostRows) used++;
    else if (row === used) row = first;
    ends[row] = Math.max(ends[row], to);
    rows[at] = row;
  }
  return { rows, count: Math.max(used, 1) };
}

/* Makes a lane for each producer of which the filters let something through. */
function makeLanes(model) {
  const sources = model.sources.filter((source) => source.shown && source.matching);
  const single = sources.length > MOST_LANES ? MOST_LANES - 1 : sources.length;
  const groups = sources.slice(0, single).map((source) => ({ label: source.name, all: source.count, items: [] }));
  if (single < sources.length) groups.push({ label: `${sources.length - single} others`, all: sources.slice(single).reduce((sum, one) => sum + one.count, 0), items: [] });
  const place = new Map(sources.map((source, i) => [source, Math.min(i, groups.length - 1)]));
  for (let i = 0; i < model.count; i++) if (model.match[i]) groups[place.get(model.sources[model.source[i]])].items.push(i);
  const mostRows = Math.max(4, Math.min(MOST_ROWS, Math.floor(LANES_HEIGHT / Math.max(groups.length, 1) / 5)));
  const room = (model.range.end - model.range.start) / 90;
  let y = 0;
  return groups.map((group) => {
    const items = Int32Array.from(group.items).sort((a, b) => model.from[a] - model.from[b] || a - b);
    const packed = packRows(model, items, mostRows, room);
    const rowHeight = packed.count <= 8 ? 14 : packed.count <= 24 ? 9 : 5;
    const lane = { label: group.label, all: group.all, items, rows: packed.rows, rowCount: packed.count, rowHeight, y, height: Math.max(packed.count * rowHeight + 14, 34) };
    y += lane.height;
    return lane;
  });
}

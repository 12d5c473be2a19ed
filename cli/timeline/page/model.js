/* SPDX-License-Identifier: MIT
 *
 * model.js: the data of the page as columns: what ../data.c has written.
 */
const OUTCOMES = ['delivered', 'leased', 'pending', 'superseded', 'annihilated', 'withdrawn', 'expired', 'filtered', 'dropped', 'closed'];
const LEVELS = ['critical', 'error', 'warning', 'info'];
const DELIVERED = 0, PENDING = 2;

/* What `of` gives for the text of each item. Many items have the same one, and it is asked once. */
function byText(strings, column, of, Kind) {
  const known = new Int32Array(strings.length), found = new Kind(column.length);
  for (let i = 0; i < column.length; i++) {
    const text = column[i];
    if (!known[text]) known[text] = of(text) + 2; // 0: not asked yet
    found[i] = known[text] - 2;
  }
  return found;
}

/* The number of each text of a column in `names`; what is not there counts as `otherwise`. */
function numbered(data, column, names, otherwise) {
  const place = new Map(names.map((name, i) => [name, i]));
  return byText(data.strings, column, (text) => place.get(data.strings[text]) ?? otherwise, Uint8Array);
}

/* The producers, those with most notifications first, and for each item the place of its own. */
function findSources(data) {
  const column = data.items.source, counts = new Int32Array(data.strings.length), texts = [];
  for (let i = 0; i < column.length; i++) if (!counts[column[i]]++) texts.push(column[i]);
  const sources = texts.map((text) => ({ text, count: counts[text], name: data.strings[text], shown: true }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const place = new Map(sources.map((source, i) => [source.text, i]));
  return { sources, of: byText(data.strings, column, (text) => place.get(text), Uint32Array) };
}

function latest(...lists) {
  let found = 0;
  for (const list of lists) for (const ms of list) if (ms > found) found = ms;
  return found;
}

function earliest(...lists) {
  let found = Infinity;
  for (const list of lists) for (const ms of list) if (ms && ms < found) found = ms;
  return found;
}

/* When hosts attached: a delivery of a new epoch follows one, and the newest is known. */
function findMarks(data) {
  const marks = [];
  const named = { 'session.opened': 'opened', 'session.resumed': 'resumed', 'session.closed': 'closed', recovered: 'recovered', 'session.rewound': 'rewound',
    'session.forked': 'forked', 'session.collected': 'collected', 'session.compacted': 'compacted' };
  const newest = data.attachment ? data.attachment.epoch : 0;
  let epoch = 0;
  for (const delivery of data.deliveries) {
    if (delivery.epoch === epoch) continue;
    epoch = delivery.epoch;
    if (epoch && epoch !== newest)
      marks.push({ time: delivery.time, label: 'attached', text: `The agent that attached as number ${epoch} took its first delivery.` });
  }
  if (data.attachment) {
    const { host, cwd, pid, alive, since } = data.attachment;
    marks.push({ time: since, label: host || 'attached', attachment: true,
      text: `The host "${visible(host)}", process ${pid}, attached. It ${alive ? 'is running' : 'is not running any more'}. Its folder: ${visible(cwd)}` });
  }
  for (const step of data.transitions)
    if (named[step.event]) marks.push({ time: step.time, label: named[step.event], text: `The run recorded ${step.event}: ${step.from} to ${step.to}.` });
  return marks.sort((a, b) => a.time - b.time);
}

function readModel(data) {
  const items = data.items, count = items.time.length;
  const { sources, of } = findSources(data);
  const times = data.transitions.map((step) => step.time);
  const carried = data.deliveries.map((delivery) => delivery.time);
  const marks = findMarks(data);
  const first = earliest(items.time, times, carried, marks.map((mark) => mark.time));
  const last = latest(items.time, items.taken_at, times, carried, data.deliveries.map((delivery) => delivery.settled_at), marks.map((mark) => mark.time));
  const start = Number.isFinite(first) ? first : data.time;
  const end = Math.max(last, start + 1);
  const pad = Math.max((end - start) * 0.03, 1);
  const place = new Map(data.deliveries.map((delivery, i) => [delivery.id, i]));
  const to = Float64Array.from(items.taken_at);
  for (let i = 0; i < count; i++) to[i] = to[i] || data.time;
  return {
    data, count, sources, source: of, marks,
    from: Float64Array.from(items.time),
    taken: Float64Array.from(items.taken_at),
    to,
    level: numbered(data, items.level, LEVELS, LEVELS.length - 1),
    outcome: numbered(data, items.outcome, OUTCOMES, PENDING),
    delivery: byText(data.strings, items.delivery, (text) => place.get(data.strings[text]) ?? -1, Int32Array),
    match: new Uint8Array(count).fill(1),
    range: { start: start - pad, end: end + pad },
    text: (column, i) => data.strings[items[column][i]],
    explanation: (i) => data.strings[items.text[2 * i]] + data.strings[items.text[2 * i + 1]],
  };
}

/* Whatever the filters let through. */
function applyFilters(model, chosen) {
  const wanted = chosen.find.toLowerCase();
  const found = wanted ? new Uint8Array(model.data.strings.length) : null; // 0: not looked at, 1: no, 2: yes
  const finds = (text) => {
    if (!found[text]) found[text] = model.data.strings[text].toLowerCase().includes(wanted) ? 2 : 1;
    return found[text] === 2;
  };
  let count = 0;
  for (let i = 0; i < model.count; i++) {
    const yes = chosen.outcomes[model.outcome[i]] && chosen.levels[model.level[i]] && model.sources[model.source[i]].shown &&
      (!wanted || finds(model.data.items.message[i]));
    model.match[i] = yes ? 1 : 0;
    count += model.match[i];
  }
  return count;
}

/* How many were pending, as steps: times and counts. */
function pendingSteps(model) {
  const pushes = [], ends = [];
  for (let i = 0; i < model.count; i++) {
    if (!model.match[i]) continue;
    pushes.push(model.from[i]);
    if (model.taken[i]) ends.push(model.taken[i]);
  }
  const up = Float64Array.from(pushes).sort(), down = Float64Array.from(ends).sort();
  const times = new Float64Array(up.length + down.length), counts = new Int32Array(times.length);
  let most = 0;
  for (let i = 0, a = 0, b = 0, pending = 0; i < times.length; i++) {
    const push = b >= down.length || (a < up.length && up[a] <= down[b]);
    times[i] = push ? up[a++] : down[b++];
    pending += push ? 1 : -1;
    counts[i] = pending;
    if (pending > most) most = pending;
  }
  return { times, counts, most };
}

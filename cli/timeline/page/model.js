/* SPDX-License-Identifier: MIT
 *
 * model.js: the data of the page as columns: what ../data.c has written.
 */
const OUTCOMES = ['delivered', 'leased', 'pending', 'superseded', 'annihilated', 'withdrawn', 'expired', 'filtered', 'dropped', 'closed'];
const LEVELS = ['critical', 'error', 'warning', 'info'];
const DELIVERED = 0, PENDING = 2;

/* Returns the value of `of` for the text of each item. Many items have the same text, for which
 * `of` is called once. */
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
  const sources = texts.map((text) => ({ text, count: counts[text], matching: counts[text], name: data.strings[text], shown: true }))
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

/* Finds the messages that people and triggers submitted, each with the time at which it was over.
 */
function findMessages(data) {
  const ends = new Map();
  for (const step of data.transitions)
    for (const { id, state } of step.messages) if (state === 'fired' || state === 'cancelled' || state === 'closed') ends.set(id, step.time);
  return data.messages.map((one) => ({ ...one, text: data.strings[one.content], end: ends.get(one.id) || 0 })).sort((a, b) => a.time - b.time);
}

/* From the first thing known to the last. The range leaves some room before that for items that
 * were forgotten. */
function findRange(data, first, last) {
  const start = Number.isFinite(first) ? first : data.time, end = Math.max(last, start + 1);
  const pad = Math.max((end - start) * 0.03, 1), lost = data.forgotten ? (end - start) * 0.16 : 0;
  return { start: start - pad - lost, end: end + pad };
}

function readModel(data) {
  const items = data.items, count = items.time.length;
  const { sources, of } = findSources(data);
  const times = data.transitions.map((step) => step.time);
  const carried = data.deliveries.map((delivery) => delivery.time);
  const marks = findMarks(data), messages = findMessages(data), submitted = messages.map((one) => one.time);
  const first = earliest(items.time, times, carried, submitted, marks.map((mark) => mark.time));
  const last = latest(items.time, items.taken_at, times, carried, submitted, data.deliveries.map((delivery) => delivery.settled_at), marks.map((mark) => mark.time));
  const place = new Map(data.deliveries.map((delivery, i) => [delivery.id, i]));
  const to = Float64Array.from(items.taken_at);
  for (let i = 0; i < count; i++) to[i] = to[i] || data.time;
  return {
    data, count, sources, source: of, marks, messages,
    from: Float64Array.from(items.time),
    taken: Float64Array.from(items.taken_at),
    to,
    level: numbered(data, items.level, LEVELS, LEVELS.length - 1),
    outcome: numbered(data, items.outcome, OUTCOMES, PENDING),
    delivery: byText(data.strings, items.delivery, (text) => place.get(data.strings[text]) ?? -1, Int32Array),
    match: new Uint8Array(count).fill(1),
    range: findRange(data, first, last),
    first: Number.isFinite(first) ? first : data.time, // the first thing known and the last
    last: Math.max(last, Number.isFinite(first) ? first : data.time),
    forgotten: data.forgotten ? data.forgotten.items : 0,
    known: data.forgotten ? data.forgotten.before : 0, // nothing is missing since then
    text: (column, i) => data.strings[items[column][i]],
    explanation: (i) => data.strings[items.text[2 * i]] + data.strings[items.text[2 * i + 1]],
  };
}

/* Why it was not shown, as `tidings explain` says; '' if it was, or waits. */
function reasonOf(model, i) {
  const text = model.data.strings[model.data.items.text[2 * i + 1]], from = text.lastIndexOf(' not shown: '), to = text.lastIndexOf(' (outcome: ');
  return from >= 0 && to > from ? text.slice(from + 12, to) : '';
}

/* Counts the wanted items by outcome: how many, of which kinds, and the most frequent reasons. */
function countOutcomes(model, wanted = (i) => model.match[i]) {
  const found = OUTCOMES.map(() => ({ count: 0, kinds: new Map(), reasons: new Map() }));
  const more = (map, key) => map.set(key, (map.get(key) || 0) + 1);
  for (let i = 0; i < model.count; i++) {
    if (!wanted(i)) continue;
    const one = found[model.outcome[i]], reason = model.outcome[i] > PENDING ? reasonOf(model, i) : '';
    one.count++;
    more(one.kinds, model.data.items.source[i] * model.data.strings.length + model.data.items.name[i]);
    if (reason) more(one.reasons, reason.replace(/notification \d+/g, 'another notification'));
  }
  return found;
}

/* Marks the items that the filters let through, and counts for each outcome, level and producer how
 * many there are if only the other filters count. */
function applyFilters(model, chosen) {
  const wanted = chosen.find.toLowerCase();
  const found = wanted ? new Uint8Array(model.data.strings.length) : null; // 0: not looked at, 1: no, 2: yes
  const finds = (text) => {
    if (!found[text]) found[text] = model.data.strings[text].toLowerCase().includes(wanted) ? 2 : 1;
    return found[text] === 2;
  };
  const result = { count: 0, outcomes: new Array(OUTCOMES.length).fill(0), levels: new Array(LEVELS.length).fill(0) };
  model.sources.forEach((source) => { source.matching = 0; });
  for (let i = 0; i < model.count; i++) {
    const outcome = chosen.outcomes[model.outcome[i]], level = chosen.levels[model.level[i]], source = model.sources[model.source[i]];
    model.match[i] = 0;
    if (wanted && !finds(model.data.items.message[i])) continue;
    if (level && source.shown) result.outcomes[model.outcome[i]]++;
    if (outcome && source.shown) result.levels[model.level[i]]++;
    if (outcome && level) source.matching++;
    if (!outcome || !level || !source.shown) continue;
    model.match[i] = 1;
    result.count++;
  }
  return result;
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

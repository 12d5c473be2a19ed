/* SPDX-License-Identifier: MIT
 *
 * panel.js: what is known of the selection, in words. Every text goes in as textContent.
 */
const MOST_LISTED = 200;
const DELIVERY_WORDS = { committed: 'committed', leased: 'leased: the host has not settled it', rolled_back: 'rolled back', rewound: 'rewound: the transcript has lost it' };
const CARRIER_WORDS = { tool_result: 'a tool result', chat_request: 'a chat request', none: 'nothing: notifications were removed', closed: 'nothing: the session was closed' };
const SETTLER_WORDS = { host: 'the host, which had sent it', resume: 'a resume, which named it or did not', recovery: 'recovery, after its host had gone', return: 'the return of its host' };
const OUTCOME_WORDS = { delivered: 'the model got it', leased: 'handed to the agent, not confirmed yet', pending: 'waits for the next message to the model', superseded: 'a newer one replaced it',
  annihilated: 'it and its opposite cancelled out', withdrawn: 'the model knew it, or it was over', expired: 'its time to live had passed', filtered: 'a setting switches it off',
  dropped: 'there were too many, or it was damaged', closed: 'the session was closed' };

const LOST = OUTCOMES.map((_, outcome) => outcome).filter((outcome) => outcome > PENDING);

function facts(rows) {
  const list = element('dl');
  for (const [name, value] of rows)
    if (value) list.append(element('dt', name), element('dd', visible(String(value))));
  return list;
}

function stateLine(outcome, words) {
  return element('p', [glyphCanvas(outcome, 16), element('span', words)], 'state');
}

function kindOf(model, i) {
  const name = model.text('name', i);
  return model.text('source', i) + (name ? `.${name}` : '');
}

/* A title, with a link to this selection. */
function titleLine(words, place) {
  const link = element('a', 'link');
  link.href = place;
  link.title = 'A link to this page with this selected';
  return element('h2', [element('span', words), link]);
}

/* -- what the model got ------------------------------------------------------------------------ */

function renderingWords(delivery) {
  const { rendering } = delivery;
  if (!rendering)
    return 'Rendered with the configuration in force when this page was made: an earlier version of tidings made this delivery and did not keep how.';
  const how = `preset ${rendering.preset || 'unknown'}, format ${rendering.format}, ${rendering.host_name ? `host name "${rendering.host_name}"` : 'no host name'}, ` +
    (rendering.room ? `room for ${plural(rendering.room, 'byte')}` : 'no bound on its length');
  return rendering.same ? `Exactly the ${plural(rendering.bytes, 'byte')} that the agent was given, by their hash: ${how}.`
    : `Not the same bytes: the agent was given ${plural(rendering.bytes, 'byte')} (${how}). Something of it is forgotten, or another version of tidings rendered it.`;
}

/* The bytes of a delivery. The line breaks that part it from the tool's own output are there, not drawn. */
function givenText(text) {
  const lead = text.match(/^\n*/)[0], pre = element('pre', [element('span', lead, 'lead'), visible(text.slice(lead.length))]);
  if (lead) pre.title = `It begins with ${plural(lead.length, 'line break')}.`;
  return pre;
}

function shownBytes(model, delivery) {
  const parts = [], exact = delivery.rendering && delivery.rendering.same, taken = delivery.outcome === 'committed';
  if (!delivery.shown.length) return parts;
  const who = taken ? 'What the model got' : 'What the agent was given';
  parts.push(element('h3', exact ? who : `${who}, as far as that is known`));
  for (const text of delivery.shown) parts.push(givenText(model.data.strings[text]));
  parts.push(element('p', visible(renderingWords(delivery)), exact ? 'note' : 'note warning'));
  return parts;
}

/* -- one of a kind ----------------------------------------------------------------------------- */

function itemPanel(model, i, actions) {
  const delivery = model.data.deliveries[model.delivery[i]], handle = model.text('handle', i), outcome = model.outcome[i];
  const occurred = model.data.items.occurred_at[i];
  const nodes = [
    titleLine(`Notification ${model.text('id', i)}`, placeOf(model, { item: i })),
    element('p', visible(model.text('message', i)) || '(its record is damaged)', 'message'),
    stateLine(outcome, `${OUTCOMES[outcome]}: ${OUTCOME_WORDS[OUTCOMES[outcome]]}`),
    facts([['kind', kindOf(model, i)], ['level', LEVELS[model.level[i]]], ['pushed', timeText(model.from[i])], ['happened', occurred && timeText(occurred)],
      [outcome === 1 ? 'leased' : 'ended', model.taken[i] && timeText(model.taken[i])], ['waited', duration(model.to[i] - model.from[i])], ['handle', handle]]),
    element('h3', 'Explanation'),
    element('p', visible(withTimes(model.explanation(i))), 'explanation'),
  ];
  if (!delivery) return nodes;
  if (outcome <= 1) nodes.push(...shownBytes(model, delivery));
  const go = element('button', `Delivery ${delivery.id}`);
  go.type = 'button';
  go.addEventListener('click', () => actions.select({ delivery: model.delivery[i] }));
  nodes.push(element('h3', 'How it was delivered'), go);
  return nodes;
}

function itemButton(model, i, times, near, actions) {
  const button = element('button', [glyphCanvas(model.outcome[i], 14), element('span', `${shortTime(times[i], near)} ${short(kindOf(model, i), 30)}: ${short(model.text('message', i), 120)}`)]);
  button.type = 'button';
  button.addEventListener('click', () => actions.select({ item: i }));
  return element('li', [button]);
}

/* With the times at which they were pushed, or others; the day is left out where it is that of `near`. */
function itemList(model, items, actions, near = model.data.time, times = model.from) {
  const nodes = [element('ul', items.slice(0, MOST_LISTED).map((i) => itemButton(model, i, times, near, actions)))];
  if (items.length > MOST_LISTED) nodes.push(element('p', `and ${(items.length - MOST_LISTED).toLocaleString('en')} more`, 'note'));
  return nodes;
}

function deliveryPanel(model, at, actions) {
  const delivery = model.data.deliveries[at], items = [];
  for (let i = 0; i < model.count; i++) if (model.delivery[i] === at) items.push(i);
  const nodes = [
    titleLine(`Delivery ${delivery.id}`, placeOf(model, { delivery: at })),
    stateLine(CARRIER_OUTCOME[delivery.outcome], DELIVERY_WORDS[delivery.outcome]),
    facts([['delivered with', CARRIER_WORDS[delivery.carrier]], ['tool', delivery.tool], ['call', delivery.call_id], ['given to the agent', timeText(delivery.time)],
      ['settled', delivery.settled_at && timeText(delivery.settled_at)], ['settled by', SETTLER_WORDS[delivery.settled_by]],
      ['rewound', delivery.rewound_at && timeText(delivery.rewound_at)], ['attachment', delivery.epoch && `number ${delivery.epoch}`]]),
    ...shownBytes(model, delivery),
  ];
  if (items.length) nodes.push(element('h3', `${plural(items.length, 'notification')} in it${items.length > 1 ? '; those of a kind may share a line' : ''}`), ...itemList(model, items, actions, delivery.time));
  return nodes;
}

function messagePanel(model, at) {
  const message = model.messages[at];
  const steps = model.data.transitions.flatMap((step) => step.messages.filter((one) => one.id === message.id)
    .map((one) => [shortTime(step.time, message.time), `${step.event}: ${one.state}`]));
  return [
    titleLine(`Message ${short(message.id, 40)}`, placeOf(model, { message: at })),
    element('p', visible(message.text), 'message'),
    facts([['from', message.trigger ? 'a trigger' : 'a person'], ['state', message.state], ['meant for', message.delivery === 'steer' ? 'the running turn' : 'a turn of its own'],
      ['submitted', timeText(message.time)], [message.state === 'fired' ? 'the model got it' : 'ended', message.end && timeText(message.end)]]),
    element('h3', 'What happened to it'), facts(steps),
  ];
}

function stepPanel(model, at) {
  const step = model.data.transitions[at];
  return [
    titleLine('Turn', placeOf(model, { step: at })),
    element('p', step.event, 'message'),
    facts([['at', timeText(step.time)], ['from', step.from], ['to', step.to], ...step.messages.map((message) => ['message', `${message.id}: ${message.state}`])]),
  ];
}

function markPanel(model, at) {
  const mark = model.marks[at];
  return [titleLine('Agent', placeOf(model, { mark: at })), element('p', mark.text, 'message'), facts([['at', timeText(mark.time)]])];
}

/* -- a moment ---------------------------------------------------------------------------------- */

/* The deliveries that showed something, the last before that moment and the first after it; -1: none. */
function deliveriesAround(model, ms) {
  let before = -1, after = -1;
  model.data.deliveries.forEach((delivery, i) => {
    if (!delivery.shown.length || delivery.outcome !== 'committed') return;
    if (delivery.time <= ms) before = i;
    else if (after < 0) after = i;
  });
  return { before, after };
}

function deliveryButton(model, at, words, actions) {
  const button = element('button', words);
  button.type = 'button';
  button.addEventListener('click', () => actions.select({ delivery: at }));
  return button;
}

function lostRows(model, lost, actions) {
  const among = new Set(lost);
  return outcomeRows(model, countOutcomes(model, (i) => among.has(i)), LOST, actions);
}

function momentPanel(model, ms, actions) {
  const { before, after } = deliveriesAround(model, ms), got = [], waiting = [], lost = [];
  for (let i = 0; i < model.count; i++) {
    if (model.from[i] > ms) continue;
    if (model.to[i] > ms || !model.taken[i]) waiting.push(i);
    else (model.outcome[i] === DELIVERED ? got : lost).push(i);
  }
  got.sort((a, b) => model.taken[b] - model.taken[a]);
  const nodes = [titleLine('A moment', placeOf(model, { moment: ms })), element('p', `At ${timeText(ms)}`, 'message')];
  if (ms < model.first || ms > model.last)
    nodes.push(element('p', `Nothing is known of that time: the session's first event is of ${timeText(model.first)}, its last one of ${timeText(model.last)}.`, 'note warning'));
  const last = model.data.deliveries[before], next = model.data.deliveries[after];
  nodes.push(element('h3', 'What the model got last before that'));
  if (last) {
    nodes.push(element('p', `${duration(ms - last.time)} before, at ${shortTime(last.time, ms)}, with ${CARRIER_WORDS[last.carrier]}${last.tool ? ` of ${short(last.tool, 30)}` : ''}:`, 'hint'),
      ...last.shown.map((text) => givenText(model.data.strings[text])), element('p', [deliveryButton(model, before, 'This delivery', actions)], 'go'));
  } else nodes.push(element('p', 'Nothing.', 'hint'));
  if (next) nodes.push(element('p', [deliveryButton(model, after, `The next one, ${duration(next.time - ms)} later`, actions)], 'go'));
  nodes.push(element('h3', `Waiting at that moment: ${plural(waiting.length, 'notification')}`), ...itemList(model, waiting, actions, ms));
  if (lost.length) nodes.push(element('h3', `It never got, ended by then: ${plural(lost.length, 'notification')}`), element('ul', lostRows(model, lost, actions)));
  nodes.push(element('h3', `The model had got ${plural(got.length, 'notification')} by then, the last first`), ...itemList(model, got, actions, ms, model.taken));
  return nodes;
}

/* -- nothing selected -------------------------------------------------------------------------- */

function mostFrequent(counts) {
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function kindWords(model, kinds) {
  const size = model.data.strings.length, all = mostFrequent(kinds), most = 6;
  const words = all.slice(0, most).map(([pair, count]) => {
    const name = model.data.strings[pair % size];
    return `${short(model.data.strings[Math.floor(pair / size)] + (name ? `.${name}` : ''), 40)} ${count.toLocaleString('en')}`;
  });
  return words.join(', ') + (all.length > most ? ` and ${plural(all.length - most, 'more kind')}` : '');
}

/* Why, for all of an outcome: in the words of its explanations, or else of this page. */
function whyWords(outcome, reasons) {
  const all = mostFrequent(reasons), most = 3, rest = all.slice(most).reduce((sum, [, count]) => sum + count, 0);
  const words = all.slice(0, most).map(([reason, count]) => (all.length > 1 ? `${count.toLocaleString('en')} because ` : '') +
    short(reason, 200).replace(/\b\d{4,} ms\b/g, (ms) => duration(parseInt(ms, 10))));
  if (outcome === DELIVERED) return '';
  if (!all.length) return `: ${OUTCOME_WORDS[OUTCOMES[outcome]]}`;
  return `: ${words.join('; ')}${rest ? `; ${rest.toLocaleString('en')} for other reasons` : ''}`;
}

/* Makes a line for each outcome; pressing one shows only its items. */
function outcomeRows(model, counts, outcomes, actions) {
  return outcomes.filter((outcome) => counts[outcome].count).map((outcome) => {
    const one = counts[outcome], words = element('span', [element('b', `${one.count.toLocaleString('en')} ${OUTCOMES[outcome]}`),
      element('span', visible(whyWords(outcome, one.reasons))), element('small', kindWords(model, one.kinds))], 'whole');
    const button = element('button', [glyphCanvas(outcome, 14), words]);
    button.type = 'button';
    button.title = 'Show only these';
    button.addEventListener('click', () => actions.only(outcome));
    return element('li', [button]);
  });
}

function outcomeGroups(model, actions) {
  const counts = countOutcomes(model), groups = [['The model got', [DELIVERED]], ['It never got', LOST],
    ['On its way, or waiting', [1, PENDING]]];
  return groups.flatMap(([title, outcomes]) => {
    const sum = outcomes.reduce((all, outcome) => all + counts[outcome].count, 0), rows = outcomeRows(model, counts, outcomes, actions);
    return rows.length ? [element('h3', `${title}: ${plural(sum, 'notification')}`), element('ul', rows)] : [];
  });
}

function emptyPanel(model, actions) {
  const matching = [], filtered = Boolean(byId('matching').textContent), nodes = [
    element('h2', 'Nothing is selected'),
    element('p', 'Each line is a notification, from its push to its end. The colour and the shape at its end say what became of it; the thicker, the more urgent.', 'hint'),
    element('p', 'Click one, or press the right arrow. To see what the model had got by 15:40, type 15:40 into the search field and press Enter.', 'note'),
    ...outcomeGroups(model, actions),
  ];
  if (model.forgotten)
    nodes.push(element('p', `${plural(model.forgotten, 'notification')} more ${model.forgotten === 1 ? 'is' : 'are'} forgotten` +
      `${model.known ? `, all pushed before ${timeText(model.known)}` : ''}: the store keeps the newest 10,000 that have ended, for 30 days.`, 'note warning'));
  for (let i = 0; i < model.count && matching.length <= MOST_LISTED; i++) if (model.match[i]) matching.push(i);
  if (filtered) {
    const all = element('button', 'Show all again');
    all.type = 'button';
    all.addEventListener('click', () => actions.all());
    nodes.push(element('p', [all], 'go'), element('h3', 'Those that the filters let through'), ...itemList(model, matching, actions));
  }
  return nodes;
}

function showPanel(model, selected, actions) {
  const panel = byId('panel'), chosen = selected || {};
  const nodes = chosen.item !== undefined ? itemPanel(model, chosen.item, actions)
    : chosen.delivery !== undefined ? deliveryPanel(model, chosen.delivery, actions)
      : chosen.message !== undefined ? messagePanel(model, chosen.message)
        : chosen.step !== undefined ? stepPanel(model, chosen.step)
          : chosen.mark !== undefined ? markPanel(model, chosen.mark)
            : chosen.moment !== undefined ? momentPanel(model, chosen.moment, actions) : emptyPanel(model, actions);
  const close = element('button', '\u00d7', 'close');
  close.type = 'button';
  close.title = 'Select nothing (Esc)';
  close.setAttribute('aria-label', 'Select nothing');
  close.addEventListener('click', () => actions.select(null));
  panel.replaceChildren(...(selected ? [close] : []), ...nodes);
  panel.dataset.open = String(Boolean(selected));
  panel.scrollTop = 0;
}

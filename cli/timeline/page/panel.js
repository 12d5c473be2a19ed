/* SPDX-License-Identifier: MIT
 *
 * panel.js: what is known of the selection, in words. Every text goes in as textContent.
 */
const MOST_LISTED = 200;
const DELIVERY_WORDS = { committed: 'committed', leased: 'leased: the host has not settled it', rolled_back: 'rolled back', rewound: 'rewound: the transcript has lost it' };
const CARRIER_WORDS = { tool_result: 'a tool result', chat_request: 'a chat request', none: 'none: notifications were removed', closed: 'none: the session was closed' };
const SETTLER_WORDS = { host: 'the host', resume: 'a resume, which named it or did not', recovery: 'recovery, after its host had gone', return: 'the return of its host' };

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

function shownBytes(model, delivery) {
  const parts = [];
  if (!delivery.shown.length) return parts;
  parts.push(element('h3', 'What the model got'));
  for (const text of delivery.shown) parts.push(element('pre', visible(model.data.strings[text])));
  parts.push(element('p', 'Rendered again with the configuration in force when this page was made, because the store does not keep the bytes. What was cut ' +
    'for lack of room is whole here; the host\'s name, and the messages that it steered, are not here.', 'note'));
  return parts;
}

function itemPanel(model, i, actions) {
  const delivery = model.data.deliveries[model.delivery[i]], handle = model.text('handle', i), outcome = model.outcome[i];
  const occurred = model.data.items.occurred_at[i];
  const nodes = [
    element('h2', `Notification ${model.text('id', i)}`),
    element('p', visible(model.text('message', i)) || '(its record is damaged)', 'message'),
    stateLine(outcome, OUTCOMES[outcome]),
    facts([['kind', kindOf(model, i)], ['level', LEVELS[model.level[i]]], ['pushed', isoTime(model.from[i])], ['happened', occurred && isoTime(occurred)],
      [outcome === 1 ? 'leased' : 'ended', model.taken[i] && isoTime(model.taken[i])], ['waited', duration(model.to[i] - model.from[i])], ['handle', handle]]),
    element('h3', 'Explanation'),
    element('p', visible(model.explanation(i)), 'explanation'),
  ];
  if (!delivery) return nodes;
  if (outcome <= 1) nodes.push(...shownBytes(model, delivery));
  const go = element('button', `Delivery ${delivery.id}`);
  go.type = 'button';
  go.addEventListener('click', () => actions.select({ delivery: model.delivery[i] }));
  nodes.push(element('h3', 'Its carrier'), go);
  return nodes;
}

function itemButton(model, i, actions) {
  const button = element('button', [glyphCanvas(model.outcome[i], 14), element('span', `${short(kindOf(model, i), 30)}: ${short(model.text('message', i), 120)}`)]);
  button.type = 'button';
  button.addEventListener('click', () => actions.select({ item: i }));
  return element('li', [button]);
}

function deliveryPanel(model, at, actions) {
  const delivery = model.data.deliveries[at], items = [];
  for (let i = 0; i < model.count; i++) if (model.delivery[i] === at) items.push(i);
  const nodes = [
    element('h2', `Delivery ${delivery.id}`),
    stateLine(CARRIER_OUTCOME[delivery.outcome], DELIVERY_WORDS[delivery.outcome]),
    facts([['carrier', CARRIER_WORDS[delivery.carrier]], ['tool', delivery.tool], ['call', delivery.call_id], ['handed out', isoTime(delivery.time)],
      ['settled', delivery.settled_at && isoTime(delivery.settled_at)], ['settled by', SETTLER_WORDS[delivery.settled_by]],
      ['rewound', delivery.rewound_at && isoTime(delivery.rewound_at)], ['attachment', delivery.epoch && `number ${delivery.epoch}`]]),
  ];
  if (items.length) nodes.push(element('h3', plural(items.length, 'notification')), element('ul', items.slice(0, MOST_LISTED).map((i) => itemButton(model, i, actions))));
  if (items.length > MOST_LISTED) nodes.push(element('p', `and ${items.length - MOST_LISTED} more`, 'note'));
  return nodes.concat(shownBytes(model, delivery));
}

function stepPanel(model, at) {
  const step = model.data.transitions[at];
  return [
    element('h2', 'Turn'),
    element('p', step.event, 'message'),
    facts([['at', isoTime(step.time)], ['from', step.from], ['to', step.to], ...step.messages.map((message) => ['message', `${message.id}: ${message.state}`])]),
  ];
}

function markPanel(model, at) {
  const mark = model.marks[at];
  return [element('h2', 'Agent'), element('p', mark.text, 'message'), facts([['at', isoTime(mark.time)]])];
}

function emptyPanel(model) {
  const list = element('dl');
  OUTCOMES.forEach((name, outcome) => {
    let count = 0;
    for (let i = 0; i < model.count; i++) count += model.outcome[i] === outcome ? 1 : 0;
    if (count) list.append(element('dt', [glyphCanvas(outcome, 14)]), element('dd', `${count.toLocaleString('en')} ${name}`));
  });
  return [
    element('h2', 'Nothing is selected'),
    element('p', 'Each line is a notification, from its push to its outcome. Its colour and the shape at its end say what became of it; the thicker, the more urgent.', 'hint'),
    element('h3', 'What became of them'), list,
    element('p', 'Click one, or press the right arrow.', 'note'),
  ];
}

function showPanel(model, selected, actions) {
  const panel = byId('panel');
  const chosen = selected || {};
  const nodes = chosen.item !== undefined ? itemPanel(model, chosen.item, actions)
    : chosen.delivery !== undefined ? deliveryPanel(model, chosen.delivery, actions)
      : chosen.step !== undefined ? stepPanel(model, chosen.step)
        : chosen.mark !== undefined ? markPanel(model, chosen.mark) : emptyPanel(model);
  panel.replaceChildren(...nodes);
  panel.scrollTop = 0;
}

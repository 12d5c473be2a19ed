/* SPDX-License-Identifier: MIT
 *
 * select.js: what is selected, how one goes from it to another, and its place in the page's address.
 */
const PLACES = { item: 'notification', delivery: 'delivery', message: 'message', step: 'turn', mark: 'agent', moment: 'time' };

function listOf(model, kind) {
  return { delivery: model.data.deliveries, message: model.messages, step: model.data.transitions, mark: model.marks }[kind];
}

/* "#notification=4294967297": an id where there is one, so that a page made later has it too. */
function placeOf(model, selected) {
  const [kind, at] = Object.entries(selected).find(([name]) => PLACES[name]) || [];
  if (kind === undefined) return '#';
  if (kind === 'moment') return `#time=${new Date(at).toISOString()}`;
  const id = kind === 'item' ? model.text('id', at) : kind === 'delivery' || kind === 'message' ? listOf(model, kind)[at].id : at;
  return `#${PLACES[kind]}=${encodeURIComponent(id)}`;
}

/* Null: the page does not have it. */
function findPlace(model, place) {
  const [, name, text] = /^#([a-z]+)=(.+)$/.exec(place) || [], kind = Object.keys(PLACES).find((one) => PLACES[one] === name);
  let id = '';
  try {
    id = decodeURIComponent(text || '');
  } catch {
    return null;
  }
  let at = -1;
  if (kind === 'moment') return Number.isNaN(Date.parse(id)) ? null : { moment: Date.parse(id) };
  if (kind === 'delivery' && id === 'first') at = model.data.deliveries.findIndex((one) => one.shown.length);
  else if (kind === 'item') at = model.data.items.id.findIndex((one) => model.data.strings[one] === id);
  else if (kind === 'delivery' || kind === 'message') at = listOf(model, kind).findIndex((one) => one.id === id);
  else if (kind && /^\d+$/.test(id) && Number(id) < listOf(model, kind).length) at = Number(id);
  return at < 0 ? null : { [kind]: at };
}

function isChosen(selected) {
  return Boolean(selected) && Object.entries(selected).some(([name, at]) => PLACES[name] && at !== null && at !== undefined);
}

function makeActions(model, stage) {
  const isWanted = {
    any: () => true,
    error: (i) => model.level[i] <= 1,
    missed: (i) => model.outcome[i] !== DELIVERED,
  };
  const actions = {
    only: () => {},
    all: () => {},
    select(selected) {
      const chosen = isChosen(selected) ? selected : null;
      stage.view.selected = chosen;
      if (chosen && chosen.item !== undefined) {
        chosen.time = model.taken[chosen.item] || model.from[chosen.item];
        stage.reveal(model.from[chosen.item], model.to[chosen.item]);
        stage.revealLane(chosen.item);
      } else if (chosen && chosen.moment !== undefined) {
        chosen.time = chosen.moment;
        stage.reveal(chosen.time, chosen.time);
      } else if (chosen) {
        const [kind, at] = Object.entries(chosen).find(([name]) => PLACES[name]);
        chosen.time = listOf(model, kind)[at].time;
        stage.reveal(chosen.time, chosen.time);
      }
      history.replaceState(null, '', chosen ? placeOf(model, chosen) : '#');
      showPanel(model, stage.view.selected, actions);
      stage.redraw();
    },
    /* The next one in that direction that the filters let through; of the same producer with `same`; `wanted` of isWanted. */
    step(direction, same, wanted) {
      const current = stage.view.selected ? stage.view.selected.item : undefined, fits = isWanted[wanted];
      let i = current === undefined ? (direction > 0 ? -1 : model.count) : current;
      do i += direction;
      while (i >= 0 && i < model.count && !(model.match[i] && fits(i) && (!same || current === undefined || model.source[i] === model.source[current])));
      if (i >= 0 && i < model.count) actions.select({ item: i });
    },
    carrier() {
      const selected = stage.view.selected;
      if (selected && selected.item !== undefined && model.delivery[selected.item] >= 0) actions.select({ delivery: model.delivery[selected.item] });
    },
    /* A moment: what the model had got by then. */
    goTo(ms) {
      const span = Math.min(stage.view.end - stage.view.start, 3600000);
      stage.show(ms - span / 2, ms + span / 2);
      actions.select({ moment: ms });
    },
  };
  return actions;
}

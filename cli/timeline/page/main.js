/* SPDX-License-Identifier: MIT
 *
 * main.js: the page's start; mouse and keys.
 */
function summarize(model) {
  const { data } = model;
  const rows = [['session', data.session], ['agent', data.attachment ? data.attachment.host : ''], ['notifications', model.count.toLocaleString('en')],
    ['carriers', data.deliveries.filter((one) => one.carrier !== 'none' && one.carrier !== 'closed').length.toLocaleString('en')],
    ['made', `${isoTime(data.time).slice(0, 19)} UTC`]];
  for (const [name, value] of rows) {
    if (!value) continue;
    const shown = element('dd', visible(value));
    shown.title = visible(value);
    byId('summary').append(element('div', [element('dt', name), shown]));
  }
  document.title = `${visible(data.session)}: tidings timeline`;
}

function makeActions(model, stage) {
  const actions = {
    select(selected) {
      const none = !selected || Object.values(selected).every((value) => value === null || value === undefined);
      stage.view.selected = none ? null : selected;
      if (!none && selected.item !== undefined) {
        selected.time = model.taken[selected.item] || model.from[selected.item];
        stage.reveal(model.from[selected.item], model.to[selected.item]);
        stage.revealLane(selected.item);
      } else if (!none) {
        const list = selected.delivery !== undefined ? model.data.deliveries : selected.step !== undefined ? model.data.transitions : model.marks;
        selected.time = list[selected.delivery ?? selected.step ?? selected.mark].time;
        stage.reveal(selected.time, selected.time);
      }
      showPanel(model, stage.view.selected, actions);
      stage.redraw();
    },
    /* The next one in that direction that the filters let through; of the same producer with `same`. */
    step(direction, same) {
      const current = stage.view.selected ? stage.view.selected.item : undefined;
      let i = current === undefined ? (direction > 0 ? -1 : model.count) : current;
      do i += direction;
      while (i >= 0 && i < model.count && !(model.match[i] && (!same || current === undefined || model.source[i] === model.source[current])));
      if (i >= 0 && i < model.count) actions.select({ item: i });
    },
    carrier() {
      const selected = stage.view.selected;
      if (selected && selected.item !== undefined && model.delivery[selected.item] >= 0) actions.select({ delivery: model.delivery[selected.item] });
    },
  };
  return actions;
}

/* -- keys -------------------------------------------------------------------------------------- */

function changeTheme() {
  const order = { '': 'light', light: 'dark', dark: '' }, root = document.documentElement;
  const next = order[root.dataset.theme || ''];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  byId('theme').textContent = next ? next[0].toUpperCase() + next.slice(1) : 'Theme';
}

function watchKeys(stage, actions, repaint) {
  const middle = () => {
    const { start, end, selected } = stage.view, time = selected && selected.time;
    return time >= start && time <= end ? time : (start + end) / 2;
  };
  const keys = {
    ArrowRight: (event) => (event.shiftKey ? stage.pan(0.2) : actions.step(1, false)),
    ArrowLeft: (event) => (event.shiftKey ? stage.pan(-0.2) : actions.step(-1, false)),
    ArrowDown: () => actions.step(1, true),
    ArrowUp: () => actions.step(-1, true),
    '+': () => stage.zoom(0.6, middle()),
    '=': () => stage.zoom(0.6, middle()),
    '-': () => stage.zoom(1 / 0.6, middle()),
    0: () => stage.fit(),
    Home: () => stage.fit(),
    c: () => actions.carrier(),
    t: () => { changeTheme(); repaint(); },
    '/': () => byId('find').focus(),
    '?': () => byId('help').showModal(),
    Escape: () => actions.select(null),
  };
  document.addEventListener('keydown', (event) => {
    const writing = event.target.matches('input[type="search"]');
    if (writing && event.key === 'Escape') byId('top').focus();
    if (writing || event.ctrlKey || event.altKey || event.metaKey || byId('help').open || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key](event);
  });
  byId('fit').addEventListener('click', () => stage.fit());
  byId('zoom-in').addEventListener('click', keys['+']);
  byId('zoom-out').addEventListener('click', keys['-']);
  byId('theme').addEventListener('click', keys.t);
  byId('help-button').addEventListener('click', keys['?']);
}

/* -- mouse ------------------------------------------------------------------------------------- */

function watchWheel(canvas, stage) {
  canvas.addEventListener('wheel', (event) => {
    const box = byId('scroller'), scrolls = canvas.id === 'lanes' && box.scrollHeight > box.clientHeight + 1;
    if (event.deltaX && !event.ctrlKey) stage.pan(event.deltaX / stage.view.width);
    if (scrolls && !event.ctrlKey) return;
    event.preventDefault();
    if (event.deltaY) stage.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(stage.view, Math.max(GUTTER, event.offsetX)));
  }, { passive: false });
}

/* A drag moves the view, or with Shift chooses a stretch; in the picture of all of it, it goes there. A press that does not move is a click. */
function watchDrag(canvas, stage, click, whole) {
  let from = null;
  canvas.addEventListener('pointerdown', (event) => {
    from = { x: event.offsetX, y: event.offsetY, start: stage.view.start, end: stage.view.end, moved: false, whole: whole(event.offsetY) };
    canvas.setPointerCapture(event.pointerId);
    byId('top').focus({ preventScroll: true });
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!from) return;
    from.moved = from.moved || Math.abs(event.offsetX - from.x) > 4;
    if (!from.moved || event.shiftKey || from.whole) return;
    const shift = (from.x - event.offsetX) / (stage.view.width - GUTTER) * (from.end - from.start);
    stage.show(from.start + shift, from.end + shift);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!from) return;
    const { x, y, moved, whole: inWhole } = from;
    from = null;
    if (!moved && !inWhole) click(x, y);
    else if (inWhole) inWhole(Math.min(x, event.offsetX), Math.max(x, event.offsetX));
    else if (event.shiftKey) stage.show(timeAt(stage.view, Math.min(x, event.offsetX)), timeAt(stage.view, Math.max(x, event.offsetX)));
  });
  canvas.addEventListener('dblclick', (event) => stage.zoom(0.4, timeAt(stage.view, event.offsetX)));
}

/* In the picture of all of it: a drag shows what it spans, a click goes there. */
function inOverview(model, stage) {
  return (from, to) => {
    const { start, end } = model.range, width = stage.view.width - GUTTER - 16, span = stage.view.end - stage.view.start;
    const at = (x) => start + (x - GUTTER) / width * (end - start);
    if (to - from > 4) stage.show(at(from), at(to));
    else stage.show(at(from) - span / 2, at(from) + span / 2);
  };
}

function watchMouse(model, stage, actions) {
  const top = byId('top'), lanes = byId('lanes'), overview = inOverview(model, stage);
  const isOverview = (y) => y >= BANDS.overview[0] && y <= BANDS.overview[0] + BANDS.overview[1];
  watchWheel(top, stage);
  watchWheel(lanes, stage);
  watchDrag(top, stage, (x, y) => actions.select(hitTop(stage.view, model, x, y)), (y) => (isOverview(y) ? overview : null));
  watchDrag(lanes, stage, (x, y) => actions.select(hitLanes(stage.view, model, stage.lanes, x, y)), () => null);
}

/* -- start ------------------------------------------------------------------------------------- */

function start() {
  const model = readModel(JSON.parse(byId('data').textContent));
  readColors();
  const stage = makeView(model), actions = makeActions(model, stage);
  const repaint = () => {
    readColors();
    document.querySelectorAll('canvas[data-outcome]').forEach(paintGlyph);
    stage.redraw();
  };
  summarize(model);
  makeFilters(model, stage.refilter);
  watchKeys(stage, actions, repaint);
  watchMouse(model, stage, actions);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new ResizeObserver(stage.resized).observe(byId('chart'));
  byId('nothing').hidden = model.count > 0;
  showPanel(model, null, actions);
  stage.draw();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start();

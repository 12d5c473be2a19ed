/* SPDX-License-Identifier: MIT
 *
 * main.js: the page's start; mouse and keys.
 */
function summarize(model) {
  const { data } = model;
  const rows = [['session', data.session], ['agent', data.attachment ? data.attachment.host : ''], ['notifications', model.count.toLocaleString('en') + (model.forgotten ? `, ${model.forgotten.toLocaleString('en')} more are forgotten` : '')],
    ['deliveries', data.deliveries.filter((one) => one.carrier !== 'none' && one.carrier !== 'closed').length.toLocaleString('en')],
    ['made', `${shortTime(data.time)} ${zoneName(data.time)}`]];
  byId('summary').replaceChildren();
  for (const [name, value] of rows) {
    if (!value) continue;
    const shown = element('dd', visible(value));
    shown.title = visible(value);
    byId('summary').append(element('div', [element('dt', name), shown]));
  }
  document.title = `${visible(data.session)}: tidings timeline`;
}

/* -- keys -------------------------------------------------------------------------------------- */

function changeTheme() {
  const order = { '': 'light', light: 'dark', dark: '' }, root = document.documentElement;
  const next = order[root.dataset.theme || ''];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  byId('theme').textContent = next ? next[0].toUpperCase() + next.slice(1) : 'Theme';
}

function watchKeys(model, stage, actions, repaint) {
  const changeClock = () => {
    clock.utc = !clock.utc;
    byId('clock').textContent = clock.utc ? 'UTC' : 'Local';
    summarize(model);
    showPanel(model, stage.view.selected, actions);
    repaint();
  };
  const middle = () => {
    const { start, end, selected } = stage.view, time = selected && selected.time;
    return time >= start && time <= end ? time : (start + end) / 2;
  };
  const keys = {
    ArrowRight: (event) => (event.shiftKey ? stage.pan(0.2) : actions.step(1, false, 'any')),
    ArrowLeft: (event) => (event.shiftKey ? stage.pan(-0.2) : actions.step(-1, false, 'any')),
    ArrowDown: () => actions.step(1, true, 'any'),
    ArrowUp: () => actions.step(-1, true, 'any'),
    e: () => actions.step(1, false, 'error'),
    E: () => actions.step(-1, false, 'error'),
    n: () => actions.step(1, false, 'missed'),
    N: () => actions.step(-1, false, 'missed'),
    u: () => changeClock(),
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
  byId('clock').addEventListener('click', changeClock);
  byId('next-error').addEventListener('click', keys.e);
  byId('next-missed').addEventListener('click', keys.n);
  byId('help-button').addEventListener('click', keys['?']);
  byId('filters').addEventListener('submit', (event) => {
    const time = readMoment(model, byId('find').value, stage.view.selected && stage.view.selected.time);
    event.preventDefault();
    if (time !== null) actions.goTo(time);
  });
}

/* -- mouse ------------------------------------------------------------------------------------- */

function watchWheel(canvas, stage) {
  canvas.addEventListener('wheel', (event) => {
    const box = byId('scroller'), scrolls = canvas.id === 'lanes' && box.scrollHeight > box.clientHeight + 1;
    if (event.deltaX && !event.ctrlKey) stage.pan(event.deltaX / stage.view.width);
    if (scrolls && !event.ctrlKey) return;
    event.preventDefault();
    if (event.deltaY) stage.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(stage.view, Math.max(stage.view.gutter, event.offsetX)));
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
    const shift = (from.x - event.offsetX) / (stage.view.width - stage.view.gutter) * (from.end - from.start);
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
    const { start, end } = model.range, width = overviewWidth(stage.view), span = stage.view.end - stage.view.start;
    const at = (x) => start + (x - stage.view.gutter) / width * (end - start);
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
  const filters = makeFilters(model, () => {
    stage.refilter();
    if (!stage.view.selected) showPanel(model, null, actions);
  });
  actions.only = filters.only;
  actions.all = filters.all;
  watchKeys(model, stage, actions, repaint);
  watchMouse(model, stage, actions);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new ResizeObserver(stage.resized).observe(byId('scroller'));
  byId('nothing').hidden = model.count > 0;
  if (model.data.from) stage.show(model.data.from, model.range.end);
  stage.draw();
  const follow = () => actions.select(findPlace(model, window.location.hash));
  window.addEventListener('hashchange', follow);
  follow();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start();

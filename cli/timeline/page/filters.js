/* SPDX-License-Identifier: MIT
 *
 * filters.js: which notifications are drawn: by outcome, level, producer and words.
 */
function checkbox(checked, changed) {
  const box = element('input');
  box.type = 'checkbox';
  box.checked = checked;
  box.addEventListener('change', () => changed(box.checked));
  return box;
}

/* Those that the session has; each with how many there are if only the other filters count. */
function chips(box, names, counts, chosen, changed, picture) {
  names.forEach((name, i) => {
    if (!counts[i]) return;
    const label = element('label', [
      checkbox(true, (checked) => { chosen[i] = checked; changed(); }),
      ...(picture ? [glyphCanvas(i, 14)] : []),
      element('span', name), element('span', counts[i].toLocaleString('en'), 'n')], 'chip');
    label.dataset.index = i;
    label.title = 'Show only these, or all again; with Shift, or by the space bar: show or hide these';
    label.addEventListener('click', (event) => {
      if (event.target.tagName === 'INPUT' || event.shiftKey) return;
      event.preventDefault(); // the box is not changed by this click
      const all = counts.every((count, j) => !count || chosen[j] === (j === i));
      names.forEach((_, j) => { chosen[j] = all || j === i; });
      for (const chip of box.children) chip.querySelector('input').checked = chosen[chip.dataset.index];
      changed();
    });
    box.append(label);
  });
}

function countBy(column, size) {
  const counts = new Array(size).fill(0);
  for (const value of column) counts[value]++;
  return counts;
}

function makeSources(model, changed) {
  const box = byId('sources'), count = byId('source-count');
  const say = () => {
    const shown = model.sources.filter((source) => source.shown).length;
    count.textContent = shown === model.sources.length ? shown : `${shown} of ${model.sources.length}`;
  };
  const boxes = [];
  const row = (name, amount, input) => box.append(element('label', [input, element('span', name, 'name'), element('span', amount, 'n')]));
  row('all of them', '', checkbox(true, (checked) => {
    model.sources.forEach((source, i) => { source.shown = checked; if (boxes[i]) boxes[i].checked = checked; });
    say();
    changed();
  }));
  model.sources.slice(0, 500).forEach((source, i) => {
    boxes[i] = checkbox(true, (checked) => { source.shown = checked; say(); changed(); });
    row(short(source.name, 60), source.count.toLocaleString('en'), boxes[i]);
  });
  say();
  return { say, recount: () => boxes.forEach((input, i) => { input.parentNode.lastChild.textContent = model.sources[i].matching.toLocaleString('en'); }) };
}

function countChips(box, counts) {
  for (const chip of box.children) chip.querySelector('.n').textContent = counts[chip.dataset.index].toLocaleString('en');
}

function makeFilters(model, changed) {
  const chosen = { outcomes: OUTCOMES.map(() => true), levels: LEVELS.map(() => true), find: '' };
  const apply = () => {
    const { count, outcomes, levels } = applyFilters(model, chosen);
    byId('matching').textContent = count === model.count ? '' : `${count.toLocaleString('en')} of ${plural(model.count, 'notification')}`;
    countChips(byId('outcomes'), outcomes);
    countChips(byId('levels'), levels);
    recount();
    changed();
  };
  chips(byId('outcomes'), OUTCOMES, countBy(model.outcome, OUTCOMES.length), chosen.outcomes, apply, true);
  chips(byId('levels'), LEVELS, countBy(model.level, LEVELS.length), chosen.levels, apply, false);
  const { say: saySources, recount } = makeSources(model, apply);
  byId('find').addEventListener('input', (event) => {
    chosen.find = readTime(event.target.value, model.data.time) === null ? event.target.value : ''; // a time is gone to, not searched
    apply();
  });
  document.addEventListener('pointerdown', (event) => {
    if (!byId('source-box').contains(event.target)) byId('source-box').open = false;
  });
  const choose = (wanted) => {
    OUTCOMES.forEach((_, i) => { chosen.outcomes[i] = wanted(i); });
    for (const chip of byId('outcomes').children) chip.querySelector('input').checked = wanted(Number(chip.dataset.index));
  };
  return {
    /* Shows those with this outcome only. */
    only: (outcome) => {
      choose((i) => i === outcome);
      apply();
    },
    all: () => {
      choose(() => true);
      chosen.levels.fill(true);
      for (const input of document.querySelectorAll('#levels input, #sources input')) input.checked = true;
      model.sources.forEach((source) => { source.shown = true; });
      byId('find').value = chosen.find = '';
      saySources();
      apply();
    },
  };
}

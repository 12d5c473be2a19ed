/* SPDX-License-Identifier: MIT
 *
 * clock.js: times in words, in the reader's time zone or in UTC; the steps of the axis.
 */
const clock = { utc: false };

/* Returns by how much a local clock is ahead of UTC at that moment. */
function offsetAt(ms) {
  return clock.utc ? 0 : -new Date(ms).getTimezoneOffset() * 60000;
}

const isoOf = (ms) => new Date(ms + offsetAt(ms)).toISOString();
const dayOf = (ms) => isoOf(ms).slice(0, 10);

function zoneName(ms) {
  const minutes = offsetAt(ms) / 60000, away = Math.abs(minutes);
  if (clock.utc || !minutes) return 'UTC';
  return `UTC${minutes < 0 ? '\u2212' : '+'}${Math.floor(away / 60)}${away % 60 ? `:${String(away % 60).padStart(2, '0')}` : ''}`;
}

/* "2026-11-23 15:20:03.120 UTC+2 (13:20:03 UTC)". */
function timeText(ms) {
  const text = `${isoOf(ms).slice(0, 23).replace('T', ' ')} ${zoneName(ms)}`;
  return zoneName(ms) === 'UTC' ? text : `${text} (${new Date(ms).toISOString().slice(11, 19)} UTC)`;
}

/* An explanation has times as RFC 3339 in UTC. */
function withTimes(text) {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) => `${shortTime(Date.parse(time))} ${zoneName(Date.parse(time))}`);
}

/* To the second, with the day where it is not that of `near`. */
function shortTime(ms, near) {
  const text = isoOf(ms);
  return near !== undefined && dayOf(near) === dayOf(ms) ? text.slice(11, 19) : text.slice(0, 19).replace('T', ' ');
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  const [large, small, name, less] = ms < 3600000 ? [60000, 1000, 'min', 's'] : ms < 86400000 ? [3600000, 60000, 'h', 'min'] : [86400000, 3600000, 'd', 'h'];
  return `${Math.floor(ms / large)} ${name} ${Math.floor(ms % large / small)} ${less}`;
}

/* "15:40", "15:40:03" or "2026-11-23 15:40": a time of the day of `near`, or of that day. Null: it is none. */
function readTime(text, near) {
  const found = /^\s*(?:(\d{4}-\d{2}-\d{2})[ T])?(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/.exec(text);
  if (!found) return null;
  const [, day = dayOf(near), hour, minute, second = '0'] = found;
  const wall = Date.parse(`${day}T00:00:00Z`) + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return Number.isNaN(wall) || Number(hour) > 23 || Number(minute) > 59 ? null : wall - offsetAt(wall);
}

/* The same for what is typed: a time without a day is of the day of what is selected, or else the newest such time that the session has. */
function readMoment(model, text, near) {
  const day = 86400000, found = readTime(text, near || model.last), bare = !text.includes('-');
  if (found === null || !bare) return found;
  if (found > model.last && found - day >= model.first - day / 2) return found - day;
  return found < model.first && found + day <= model.last ? found + day : found;
}

/* Steps of the time axis, and how precisely each is labelled. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5,
  864e5, 1728e5, 6048e5, 2592e6, 7776e6, 31536e6];

function axisStep(span, ticks) {
  return STEPS.find((step) => span / step <= ticks) || STEPS[STEPS.length - 1];
}

function axisLabel(ms, step) {
  const iso = isoOf(ms);
  if (step >= 864e5) return iso.slice(0, 10);
  if (step >= 6e4) return iso.slice(11, 16);
  return step >= 1000 ? iso.slice(11, 19) : iso.slice(11, 23);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTime } from '../../src/hub-ui/palette/written_time.ts';
import { clockOf } from '../../src/model/zone_clock.ts';

/** A Sunday, 21:00 in Berlin. */
const NOW = Date.parse('2026-11-29T20:00:00Z');
const berlin = clockOf('Europe/Berlin');

function read(text: string): string | undefined {
  const atMs = readTime(text, NOW, berlin);
  return atMs === undefined ? undefined : new Date(atMs).toISOString().slice(0, 16);
}

const YESTERDAY = '2026-11-28T13:00';
for (const text of [
  ...['yesterday 14:00', 'Yesterday at 2 pm', 'gestern 14:00', 'gestern um 14 Uhr', 'hier 14h', 'hier 14h00'],
  ...['ayer 14:00', 'ayer a las 14:00', '2026-11-28 14:00', '28.11. 14:00', '28/11 14:00', '28.11.2026 14.00 Uhr'],
  ...['saturday 14:00', 'Samstag 14:00', 'samedi 14h00', 'sábado 14:00', 'sat 2:00pm'],
]) {
  test(`"${text}" is yesterday at two in the afternoon`, () => assert.equal(read(text), YESTERDAY));
}

test('A clock time without a day is the latest one before now', () => {
  assert.equal(read('20:30'), '2026-11-29T19:30');
  assert.equal(read('22:30'), '2026-11-28T21:30');
  assert.equal(read('8h30'), '2026-11-29T07:30');
});

test('An age is before now', () => {
  for (const text of ['2 hours ago', '2 h ago', 'vor 2 Stunden', 'il y a 2 heures', 'hace 2 horas']) {
    assert.equal(read(text), '2026-11-29T18:00', text);
  }
  assert.equal(read('vor 15 min'), '2026-11-29T19:45');
  assert.equal(read('hace 3 días'), '2026-11-26T20:00');
});

test('A day without a time is its midnight, and a weekday is the last one', () => {
  assert.equal(read('avant-hier'), '2026-11-26T23:00');
  assert.equal(read('today'), '2026-11-28T23:00');
  assert.equal(read('sunday 8:00'), '2026-11-22T07:00');
  assert.equal(read('mercredi 8h'), '2026-11-25T07:00');
});

test('Other texts are no times, and neither are times in the future', () => {
  for (const text of ['', '14', 'dock 14', 'Forklift 7', '25:00', '31.02. 10:00', 'today 23:00', '3 apples ago']) {
    assert.equal(read(text), undefined, text);
  }
});

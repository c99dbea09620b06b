import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventCounts } from '../../src/cli/event_counts.ts';
import { bar, StatusLine } from '../../src/cli/status_line.ts';

function written(isTTY: boolean, act: (status: StatusLine) => void): string {
  let text = '';
  act(
    new StatusLine({
      isTTY,
      columns: 10,
      write(part) {
        text += part;
      },
    }),
  );
  return text;
}

/** Writes the time in milliseconds, every 50 ms of 11 seconds. */
function showTimes(status: StatusLine): void {
  for (let nowMs = 0; nowMs <= 11_000; nowMs += 50) status.show(nowMs, () => `at ${nowMs}`);
}

test('StatusLine writes a line every five seconds into a log', () => {
  assert.equal(written(false, showTimes), 'at 0\nat 5000\nat 10000\n');
});

test('StatusLine rewrites its line ten times a second on a terminal', () => {
  const lines = written(true, showTimes).split('\r\x1b[2K').slice(1);
  assert.equal(lines.length, 111);
  assert.equal(lines.at(-1), 'at 11000');
});

test('StatusLine truncates its line to the width of the terminal', () => {
  assert.equal(
    written(true, (status) => status.show(0, () => '0123456789')),
    '\r\x1b[2K012345678',
  );
});

test('StatusLine clears its line before permanent lines', () => {
  const text = written(true, (status) => {
    status.show(0, () => 'busy');
    status.print('one');
    status.print('two');
  });
  assert.equal(text, '\r\x1b[2Kbusy\r\x1b[2Kone\ntwo\n');
});

const bars: [part: number, text: string][] = [
  [0, `[${'-'.repeat(20)}]   0 %`],
  [0.26, `[#####${'-'.repeat(15)}]  26 %`],
  [1, `[${'#'.repeat(20)}] 100 %`],
  [1.5, `[${'#'.repeat(20)}] 100 %`],
];

for (const [part, text] of bars) {
  test(`bar shows ${part}`, () => assert.equal(bar(part), text));
}

test('EventCounts counts by kind of event, or by topic', () => {
  const events = new EventCounts();
  assert.equal(String(events), 'none');
  events.add('fence_events', [{ event_type: 'region_exit' }, { event_type: 'region_entry' }]);
  events.add('collision_events', [{ collision_type: 'colliding' }]);
  events.add('trackable_motions', [{ id: 'a' }, null]);
  events.add('fence_events', [{ event_type: 'region_entry' }]);
  assert.equal(String(events), 'colliding 1, region_entry 2, region_exit 1, trackable_motions 2');
  assert.equal(events.total, 6);
  assert.equal(events.count('region_entry'), 2);
});

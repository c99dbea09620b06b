import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hubError } from '../../src/errors.ts';
import type { Source } from '../../src/model/source.ts';
import { problemOf } from '../../src/problem.ts';
import { Intake, redacted } from '../../src/sources/intake.ts';

const SOURCE: Source = {
  id: 's',
  name: 'S',
  kind: 'http',
  format: 'json',
  map: { provider_id: '/id', x: '/x', y: '/y', timestamp_generated: { path: '/t', unit: 'ms' } },
};
const START = Date.parse('2026-11-29T10:00:00Z');

/** An intake on simulated time, whose hub rejects the provider `bad`, and everything while it is busy. */
function openIntake(more: Partial<Source> = {}) {
  const world = { nowMs: START, isBusy: false, delivered: [] as unknown[] };
  const intake = new Intake(
    { ...SOURCE, ...more },
    {
      now: () => world.nowMs,
      deliver(_kind, values, nameOf) {
        if (world.isBusy) throw hubError('locations_waiting');
        const ids = values.map((value) => (value as { provider_id: string }).provider_id);
        world.delivered.push(...ids.filter((id) => id !== 'bad'));
        const problems = ids.flatMap((id, i) =>
          id === 'bad' ? [problemOf('not_zone', { path: `${nameOf(i)}.source` })] : [],
        );
        return { problems, committed: undefined };
      },
    },
  );
  const send = (...items: object[]) => intake.accept({ content: JSON.stringify(items) });
  return { ...world, world, intake, send };
}

const tag = (id: string, t = START) => ({ id, x: 1, y: 2, t });

test('Every payload and item is counted as mapped, skipped, refused or throttled', () => {
  const { world, intake, send } = openIntake({ map: { ...SOURCE.map, when: [{ path: '/off', in: [null] }] } });
  assert.equal(send(tag('a'), tag('bad'), { id: 'c', x: 'far', y: 2 }, { off: true }).what, 'accepted');
  assert.equal(send(tag('bad')).what, 'refused');
  assert.equal(intake.accept({ content: 'no JSON' }).what, 'refused');
  assert.equal(intake.accept({ content: Uint8Array.of(0x5b, 0xff) }).what, 'refused');
  world.isBusy = true;
  assert.equal(send(tag('d')).what, 'busy');
  const { received, mapped, skipped, refused, throttled, refused_by: by } = intake.status();
  assert.deepEqual([received, mapped, skipped, refused, throttled], [5, 1, 1, 5, 1]);
  assert.deepEqual(by, { not_a_number: 1, not_zone: 2, not_json: 1, not_text: 1 });
  assert.deepEqual(world.delivered, ['a']);
});

test('The last refused payload is shown with its problem, and without secrets', () => {
  const { intake } = openIntake();
  intake.accept({ content: '{"id":"a","x":"far","y":2,"api_key":"s3cret","nested":{"Password":"pass, \\" word"}}' });
  assert.deepEqual(intake.status().last_refused, {
    at: '2026-11-29T10:00:00.000Z',
    message: '$/x: must be a number, found "far"',
    payload: '{"id":"a","x":"far","y":2,"api_key":"***","nested":{"Password":"***"}}',
  });
  assert.equal(
    redacted('POST / HTTP/1.1\nAuthorization: Basic abc\nHost: hub'),
    'POST / HTTP/1.1\nAuthorization: ***\nHost: hub',
  );
  assert.ok(redacted('x'.repeat(1 << 20)).length <= 2000);
});

test('A source that floods is throttled to its rate limit, and another one is not', () => {
  const { world, intake, send } = openIntake({ rate_limit: 10 });
  const other = openIntake();
  for (let i = 0; i < 1000; i++) send(tag(`a${i}`));
  assert.deepEqual([intake.status().mapped, intake.status().throttled], [10, 990]);
  world.nowMs += 500;
  for (let i = 0; i < 1000; i++) send(tag(`b${i}`));
  assert.equal(intake.status().mapped, 15);
  for (let i = 0; i < 100; i++) other.send(tag(`c${i}`));
  assert.equal(other.intake.status().mapped, 100);
});

test('Large payloads and many items cost as many tokens as they have kilobytes or items', () => {
  for (const items of [
    Array.from({ length: 50 }, (_, i) => tag(String(i))),
    [{ ...tag('a'), note: 'x'.repeat(50_000) }],
  ]) {
    const { world, intake, send } = openIntake({ rate_limit: 10 });
    assert.equal(send(...items).what, 'accepted');
    world.nowMs += 3900;
    assert.equal(send(tag('b')).what, 'flooded');
    world.nowMs += 400;
    assert.equal(send(tag('b')).what, 'accepted');
    assert.equal(intake.status().throttled, 1);
  }
});

test('A payload of megabytes is refused without being parsed', () => {
  const { intake } = openIntake();
  assert.equal(intake.accept({ content: new Uint8Array((1 << 20) + 1) }).what, 'refused');
  assert.match(intake.status().last_refused?.message ?? '', /must have at most 1048576 bytes|at most 1,048,576 bytes/);
  assert.equal(intake.accept({ content: `[${' '.repeat((1 << 20) - 2)}]` }).what, 'accepted');
});

test('The status compares the clock of the source with that of the hub', () => {
  const { intake, send } = openIntake();
  send(tag('a', START - 3_600_000), tag('b', START - 3_600_500));
  const { clock_offset: offset, last_received_at: received, last_source_time: time } = intake.status();
  assert.deepEqual([offset, received, time], [-3_600_000, '2026-11-29T10:00:00.000Z', '2026-11-29T09:00:00.000Z']);
});

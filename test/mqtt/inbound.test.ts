import { errorWith, problemWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EachResult } from '../../src/ingest/ingest.ts';
import { Inbound, type InboundDeps } from '../../src/mqtt/inbound.ts';
import { MessageWriter } from '../../src/mqtt/messages.ts';
import { received } from './received.ts';

const PUB = '/omlox/json/location_updates/pub/';

/** An isolated Inbound whose output and reports are collected. */
function openInbound(ingest: Partial<InboundDeps['ingest']> = {}, deps: Partial<InboundDeps> = {}) {
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const taken: EachResult = { problems: [], committed: undefined };
  const inbound = new Inbound({
    ingest: {
      body: (_, { providerId } = {}) => void events.push(`body ${providerId}`),
      locationsEach: (values) => {
        events.push(`each ${JSON.stringify(values)}`);
        return taken;
      },
      proximitiesEach: () => taken,
      ...ingest,
    },
    hasCapacity: () => true,
    schedule: (_, callback) => {
      waiting.push(callback);
      return () => undefined;
    },
    later: (callback) => void waiting.push(callback),
    elapsedMs: () => 0,
    depthMax: 10,
    taken: (batch, refused) => void events.push(`taken ${batch} ${JSON.stringify(refused)}`),
    again: (why) => void events.push(`again ${why}`),
    problem: (reason) => void events.push(`problem ${reason}`),
    ...deps,
  });
  const goOn = (): void => {
    for (const callback of waiting.splice(0)) callback();
  };
  return { inbound, events, goOn };
}

function packed(...messages: readonly (readonly [topic: string, payload: string, isRetained?: boolean])[]): Uint8Array {
  const writer = new MessageWriter();
  for (const [topic, payload, isRetained = false] of messages) {
    writer.addArrived(received(PUB + topic, payload, { isRetained }));
  }
  return writer.take();
}

describe('Inbound', () => {
  test('passes on messages in order, and reports when a batch was accepted', () => {
    const { inbound, events } = openInbound();
    inbound.take(1, packed(['a', '{}'], ['b', '{}']));
    inbound.take(2, packed(['a', '{}']));
    assert.deepEqual(events, ['body a', 'body b', 'taken 1 []', 'body a', 'taken 2 []']);
  });

  test('accepts nothing while the hub is full, and then resumes', () => {
    let room = 0;
    const { inbound, events, goOn } = openInbound(
      {
        body: (_, { providerId } = {}) => {
          if (room === 0) throw errorWith('HUB_UNAVAILABLE', 'full');
          room--;
          events.push(`body ${providerId}`);
          return undefined;
        },
      },
      { hasCapacity: () => room > 0 },
    );
    inbound.take(1, packed(['a', '{}'], ['b', '{}'], ['c', '{}']));
    inbound.take(2, packed(['d', '{}']));
    goOn();
    assert.deepEqual(events, []);
    room = 2;
    goOn();
    assert.deepEqual(events, ['body a', 'body b']);
    room = 9;
    goOn();
    assert.deepEqual(events, ['body a', 'body b', 'body c', 'taken 1 []', 'body d', 'taken 2 []']);
  });

  test('accepts a list larger than the capacity in pieces, and checks it once', () => {
    let room = 2;
    const taken: unknown[] = [];
    const full = () => errorWith('HUB_UNAVAILABLE', 'full');
    const { inbound, events, goOn } = openInbound(
      {
        body: () => {
          throw full();
        },
        locationsEach: (values, _, nameOf) => {
          if (values.length > room) throw full();
          room -= values.length;
          taken.push(...values);
          return {
            problems: values.flatMap((value, at) => (value === 0 ? [problemWith(`${nameOf?.(at)}: none`)] : [])),
            committed: undefined,
          };
        },
      },
      { hasCapacity: (count) => count <= room, problem: (reason, problem) => void events.push(`${reason} ${problem}`) },
    );
    inbound.take(1, packed(['', '[{"provider_id":"a"},1,2,0,4]']));
    assert.deepEqual(taken, [{ provider_id: 'a' }, 1]);
    goOn();
    assert.equal(taken.length, 2);
    room = 2;
    goOn();
    assert.deepEqual(events, ['invalid payload[3]: none']);
    room = 2;
    goOn();
    assert.deepEqual(taken, [{ provider_id: 'a' }, 1, 2, 0, 4]);
    assert.deepEqual(events, ['invalid payload[3]: none', 'taken 1 [[0,153]]']);
  });

  test('yields after some milliseconds', () => {
    let nowMs = 0;
    const { inbound, events, goOn } = openInbound({}, { elapsedMs: () => (nowMs += 4) });
    inbound.take(1, packed(['a', '{}'], ['b', '{}'], ['c', '{}']));
    assert.deepEqual(events, ['body a', 'body b']);
    goOn();
    assert.deepEqual(events.slice(2), ['body c', 'taken 1 []']);
  });

  test('acknowledges a batch when all of it is stored, and requests redelivery otherwise', async () => {
    const kept = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let next = 0;
    const { inbound, events } = openInbound({ body: () => kept[next++]?.promise });
    inbound.take(1, packed(['a', '{}']));
    inbound.take(2, packed(['a', '{}']));
    assert.deepEqual(events, []);
    kept[0].resolve();
    await kept[0].promise;
    await new Promise(setImmediate);
    assert.deepEqual(events, ['taken 1 []']);
    kept[1].reject(new Error('disk full'));
    await new Promise(setImmediate);
    assert.deepEqual(events, ['taken 1 []', 'again disk full']);
  });

  test('drops messages that are not accepted', () => {
    let isFull = true;
    const { inbound, events, goOn } = openInbound({}, { hasCapacity: () => !isFull });
    inbound.take(1, packed(['a', '{}']));
    inbound.forget();
    isFull = false;
    goOn();
    assert.deepEqual(events, []);
    inbound.take(2, packed(['b', '{}']));
    assert.deepEqual(events, ['body b', 'taken 2 []']);
  });

  const REFUSED: readonly [what: string, message: readonly [string, string, boolean?], events: readonly string[]][] = [
    ['invalid JSON', ['a', '{'], ['problem json', 'taken 1 [[0,153]]']],
    ['nothing', ['a', ''], ['problem json', 'taken 1 [[0,153]]']],
    ['another id than in the topic', ['a', '{"provider_id":"b"}'], ['problem id', 'taken 1 [[0,153]]']],
    ['an invalid topic', ['%FF', '{}'], ['problem topic', 'taken 1 [[0,144]]']],
    ['a retained message, without a negative acknowledgment', ['a', '{}', true], ['problem retained', 'taken 1 []']],
  ];
  for (const [what, message, expected] of REFUSED) {
    test(`rejects ${what}`, () => {
      const { inbound, events } = openInbound({ body: () => 'unusual' });
      inbound.take(1, packed(message));
      assert.deepEqual(events, expected);
    });
  }

  test('completes missing members from the topic, and rejects list items of another provider', () => {
    const { inbound, events } = openInbound({ body: () => 'unusual' });
    inbound.take(1, packed(['a', '{"provider_id":null}'], ['a', '[{},{"provider_id":"b"},{"provider_id":"a"}]']));
    assert.deepEqual(events, [
      'each [{"provider_id":"a"}]',
      'problem id',
      'each [{"provider_id":"a"},{"provider_id":"a"}]',
      'taken 1 [[1,153]]',
    ]);
    assert.deepEqual(inbound.refused, { topic: 0, retained: 0, json: 0, id: 1, invalid: 0 });
  });
});

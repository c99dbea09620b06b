import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WriteEvents } from '../../src/core/entity_write.ts';
import { encoded, eventsIn, joinEvents, partsOf, slicedEvents, textEvent } from '../../src/events/event_bytes.ts';
import { joined } from '../../src/model/event_batch.ts';
import { EVENT_TOPICS } from '../../src/model/logged_event.ts';
import { EventArea } from '../../src/store/event_area.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const field = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(undefined));
const event = fc.record({
  topic: fc.constantFrom(...EVENT_TOPICS),
  fields: fc.array(field, { maxLength: 6 }),
  json: text.map((value) => JSON.stringify({ value })),
});

function read(write: WriteEvents | undefined, after = 0) {
  const area = new EventArea();
  write?.(area);
  const { bytes, count } = area.after({ size: 0, count: 0 });
  const block = { first: 1, count, timeMs: 0, bytes };
  return [...eventsIn(block, after)].map(({ position, topic, fields, json }) => ({
    position,
    event: { topic, fields: [...fields()], json: json() },
  }));
}

test('events of any topics are read as they were encoded, from any position', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), fc.nat(10), (events, after) => {
      const encoded = joinEvents(events.map(({ topic, fields, json }) => textEvent(topic, fields, json)));
      const expected = events.map((each, i) => ({ position: i + 1, event: { ...each } }));
      assert.deepEqual(read(encoded, after), expected.slice(after));
    }),
  );
});

test('the parts of events have all of them in order, each part whole events, and no part many more bytes than asked', () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 500 }),
      (events, bytesMin) => {
        const all = events.map(({ topic, fields, json }) => textEvent(topic, fields, json));
        const whole = encoded(joinEvents(all) as WriteEvents);
        const largest = Math.max(...all.map((each) => encoded(each).bytes.length));
        const parts = [...partsOf(whole.bytes, bytesMin)];
        assert.deepEqual(Buffer.concat(parts.map(({ bytes }) => bytes)), Buffer.from(whole.bytes));
        for (const [i, { count, bytes }] of parts.entries()) {
          assert.equal([...eventsIn({ first: 1, count, timeMs: 0, bytes }, 0)].length, count);
          assert.ok(bytes.length < bytesMin + largest && (bytes.length >= bytesMin || i === parts.length - 1));
        }
      },
    ),
  );
});

test('events of a batch are read as they were rendered', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1 }), (events) => {
      const slices = { ...joined(events.map(({ json }) => json)), fields: events.map(({ fields }) => fields) };
      const found = read(slicedEvents('fence_events', slices));
      assert.deepEqual(
        found.map((each) => [each.event.fields, each.event.json]),
        events.map(({ fields, json }) => [fields, json]),
      );
    }),
  );
});

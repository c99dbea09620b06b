import { lend } from '../../src/model/borrowed.ts';
import { type EventBatch, joined, NO_FIELDS } from '../../src/model/event_batch.ts';
import type { SerializedEvent } from '../../src/model/topics.ts';

/** Creates the batch that a worker sends for these events, in order and by variant. */
export function batchesOf(events: readonly SerializedEvent[]): EventBatch[] {
  const byVariant = new Map<number, SerializedEvent[]>();
  for (const event of events) {
    const own = byVariant.get(event.variant);
    if (own === undefined) byVariant.set(event.variant, [event]);
    else own.push(event);
  }
  return Array.from(byVariant, ([variant, own]) => {
    const { bytes, ends } = joined(own.map(({ text }) => text));
    const fields = own[0]?.fields === NO_FIELDS ? undefined : own.map(({ fields }) => fields);
    return { variant, bytes: lend(bytes), ends, fields };
  });
}

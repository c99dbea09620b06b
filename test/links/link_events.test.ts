import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KnownEvents } from '../../src/links/event_passage.ts';
import { LinkEvents } from '../../src/links/link_events.ts';
import type { LinkProgress } from '../../src/model/link.ts';
import { errorWith } from '../support/errors.ts';

const PEER = { hubId: 'other', hasId: true };

/** The log of the other hub: event n has the cursor `c<n>`. */
const eventOf = (n: number): object => ({ id: `e-${n}`, fence_id: 'dock', provider_id: 'tag' });
const cursorOf = (n: number): string => `c${n}`;

/** This hub: what it has stored survives a crash. */
class Stored {
  ids: string[] = [];
  progress: LinkProgress | undefined;
  isFailing = false;
}

/** A running hub with a link. */
class Running {
  readonly events: LinkEvents;
  isCrashed = false;
  readonly #timers: (() => void)[] = [];

  constructor(stored: Stored) {
    this.events = new LinkEvents({
      ...{ hubId: 'here', idPrefix: '', known: new KnownEvents(), stored: () => stored.progress },
      accept: async (events, progress) => {
        await new Promise(setImmediate);
        if (stored.isFailing || this.isCrashed) throw errorWith('HUB_UNAVAILABLE', 'failing');
        stored.ids.push(...events.map(({ id }) => id));
        stored.progress = progress ?? stored.progress;
        return [];
      },
      schedule: (_, callback) => {
        this.#timers.push(callback);
        return () => undefined;
      },
      now: () => 7,
      problem: () => undefined,
    });
  }

  /** Lets the timers that wait now fire. */
  fire(): void {
    for (const timer of this.#timers.splice(0)) timer();
  }

  /** The same, and waits for the commit that they start. */
  async settle(): Promise<void> {
    this.fire();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
}

type Step = 'event' | 'cut' | 'crash' | 'fails' | 'works' | 'commit' | 'settle';

test('Cuts, crashes and failures of the database neither lose nor repeat an event', async () => {
  const step = fc.constantFrom<Step>('event', 'event', 'event', 'cut', 'crash', 'fails', 'works', 'commit', 'settle');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const stored = new Stored();
      let logged = 0;
      let running = new Running(stored);
      const connect = (): void => {
        running.events.identified(PEER);
        const { after } = running.events.params();
        const from = after === 'newest' ? logged : Number(after?.slice(1));
        running.events.take([], cursorOf(from));
        for (let n = from + 1; n <= logged; n++) running.events.take([eventOf(n)], cursorOf(n));
      };
      connect();
      await running.settle();
      for (const each of [...steps, 'works', 'settle', 'settle', 'settle'] as const) {
        if (each === 'event') running.events.take([eventOf(++logged)], cursorOf(logged));
        if (each === 'cut') connect();
        if (each === 'crash') {
          running.isCrashed = true;
          running = new Running(stored);
          connect();
        }
        if (each === 'commit') running.fire();
        if (each === 'fails' || each === 'works') stored.isFailing = each === 'fails';
        if (each === 'settle') await running.settle();
      }
      assert.deepEqual(
        stored.ids,
        Array.from({ length: logged }, (_, i) => `e-${i + 1}`),
      );
      assert.equal(running.events.gaps.count, 0);
    }),
  );
});

test('Events that cannot be stored wait up to a bound, and are then read again', async () => {
  const stored = new Stored();
  const { events } = new Running(stored);
  events.identified(PEER);
  assert.deepEqual(events.params(), { after: 'newest' });
  events.take([], cursorOf(0));
  let n = 0;
  while (events.take([eventOf(++n)], cursorOf(n)));
  assert.equal(n, 20_001);
  assert.deepEqual([events.size, events.counts.dropped], [0, 20_001]);
  assert.deepEqual(events.params(), { after: 'newest' });
});

test('A cursor that the other hub does not know leads to the oldest or the newest event, and counts as a gap', () => {
  for (const [reason, after] of [
    ['cursor_too_old', 'oldest'],
    ['cursor_unknown', 'newest'],
    ['cursor_of_other_hub', 'newest'],
  ] as const) {
    const stored = new Stored();
    stored.progress = { hub: 'other', cursor: 'c5' };
    const { events } = new Running(stored);
    events.identified(PEER);
    assert.deepEqual(events.params(), { after: 'c5' });
    assert.equal(events.failed(reason), true);
    assert.deepEqual(events.params(), { after });
    assert.deepEqual(events.gaps, { count: 1, lastMs: 7 });
  }
  const { events } = new Running(new Stored());
  events.identified(PEER);
  assert.equal(events.failed('not_permitted'), false);
});

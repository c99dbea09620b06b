import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Append,
  type Appended,
  type Bus,
  BusError,
  type Message,
  PAYLOAD_BYTES_MAX,
  type StreamSettings,
} from '../../src/cluster/nats/bus.ts';
import { copied, look } from '../../src/model/borrowed.ts';

/** Members of one cluster, each with a network that can fail. */
export interface BusWorld {
  /** The prefix of its subjects and streams. */
  readonly name: string;
  /** The bus of a new member. */
  bus(member: string): Bus;
  /** Cuts the connection of a member, and keeps it from making another. */
  cut(member: string): void;
  /** Drops all messages to a member, while its own messages still arrive. */
  deafen(member: string): void;
  restore(member: string): void;
}

export interface BusKind {
  readonly name: string;
  readonly skip?: string | false;
  world(context: TestContext): Promise<BusWorld>;
}

const SOON_MS = 3000;
/** How long a deaf member waits for its answers. */
const DEAF_MS = 300;

/** Contract tests for every bus. */
export function testBusContract({ name, skip = false, world }: BusKind): void {
  for (const [sentence, body] of PROMISES) {
    test(`${name} ${sentence}`, { skip }, async (context) => body(await world(context)));
  }
}

type Promised = readonly [sentence: string, body: (world: BusWorld) => Promise<void>];

const CORE: readonly Promised[] = [
  [
    'publishes to all others who listen, in order, with wildcards, and not to itself',
    async (world) => {
      const [a, b, c] = [world.bus('a'), world.bus('b'), world.bus('c')];
      const own = new ReceivedMessages(a, `${world.name}.m.>`);
      const [star, all] = [new ReceivedMessages(b, `${world.name}.m.*`), new ReceivedMessages(c, `${world.name}.m.>`)];
      await Promise.all([own.ready, star.ready, all.ready]);
      for (const text of ['1', '2', '3']) assert.ok(a.publish(`${world.name}.m.x`, utf8(text)));
      assert.ok(a.publish(`${world.name}.m.x.y`, utf8('deep')));
      assert.ok(a.publish(`${world.name}.m.x`, utf8('end')));
      assert.deepEqual(await star.until('end'), ['1', '2', '3', 'end']);
      assert.deepEqual(await all.until('end'), ['1', '2', '3', 'deep', 'end']);
      assert.deepEqual(own.texts, []);
    },
  ],
  [
    'hears nothing on a subject from the moment it ends its subscription',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const [ended, goesOn] = [new ReceivedMessages(b, `${world.name}.m`), new ReceivedMessages(b, `${world.name}.m`)];
      await Promise.all([ended.ready, goesOn.ready, up(a)]);
      ended.end();
      a.publish(`${world.name}.m`, utf8('late'));
      await goesOn.until('late');
      assert.deepEqual(ended.texts, []);
    },
  ],
  [
    'requests get an answer, or the result that there are no responders, or that no answer came in time',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const answering = b.subscribe(`${world.name}.ask`, ({ reply, bytes }) => {
        b.publish(reply, utf8(`${textOf(look(bytes))}!`));
      });
      const silent = b.subscribe(`${world.name}.silent`, () => undefined);
      await Promise.all([answering.ready, silent.ready]);
      const ask = (subject: string) =>
        a.request(`${world.name}.${subject}`, utf8('who'), {
          timeoutMs: DEAF_MS,
          read: (bytes) => textOf(look(bytes)),
        });
      assert.deepEqual(await ask('ask'), { at: 'answered', value: 'who!' });
      assert.deepEqual(await ask('nobody'), { at: 'noResponders' });
      assert.deepEqual(await ask('silent'), { at: 'unanswered' });
    },
  ],
  [
    'rejects a request whose answer cannot be read, and serves the next',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      await b.subscribe(`${world.name}.ask`, ({ reply }) => void b.publish(reply, utf8('{'))).ready;
      const ask = (read: (text: string) => unknown) =>
        a.request(`${world.name}.ask`, utf8('?'), { timeoutMs: SOON_MS, read: (bytes) => read(textOf(look(bytes))) });
      await assert.rejects(ask(JSON.parse), SyntaxError);
      assert.deepEqual(await ask(String), { at: 'answered', value: '{' });
    },
  ],
  [
    'says when the connection is lost and when it is back, and publishes nothing in between',
    async (world) => {
      const a = world.bus('a');
      await up(a);
      world.cut('a');
      await down(a);
      assert.equal(a.publish(`${world.name}.m`, utf8('lost')), false);
      world.restore('a');
      await up(a);
      assert.ok(a.publish(`${world.name}.m`, utf8('sent')));
    },
  ],
  [
    'listens to its subjects again when the connection is back',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const received = new ReceivedMessages(b, `${world.name}.m`);
      await Promise.all([received.ready, up(a)]);
      world.cut('b');
      await down(b);
      world.restore('b');
      await up(b);
      // A later subscription is active, so the earlier one is as well.
      await b.subscribe(`${world.name}.now`, () => undefined).ready;
      a.publish(`${world.name}.m`, utf8('again'));
      assert.deepEqual(await received.until('again'), ['again']);
    },
  ],
  [
    'refuses a message above the limit, naming its size, and carries one at the limit',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const { settings, append } = await withStream(world, a);
      const large = new Uint8Array(new SharedArrayBuffer(PAYLOAD_BYTES_MAX + 1)).fill(7);
      await assert.rejects(append({ bytes: large }), {
        name: 'BusError',
        message: new RegExp(`${PAYLOAD_BYTES_MAX + 1}`),
      });
      assert.throws(() => a.publish(`${world.name}.m`, large), BusError);
      const sizes: number[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      const following = b.follow(settings.name, { subjects: settings.subjects, fromSequence: 1 }, ({ bytes }) => {
        const found = look(bytes);
        sizes.push(found.length, found[0] ?? 0, found.at(-1) ?? 0);
        resolve();
      });
      assert.equal((await append({ bytes: large.subarray(1) })).at, 'committed');
      await promise;
      following.end();
      assert.deepEqual(sizes, [PAYLOAD_BYTES_MAX, 7, 7]);
    },
  ],
  [
    'refuses a subject that would break the protocol, naming it',
    async (world) => {
      const a = world.bus('a');
      for (const subject of ['', 'a b', 'a\r\nPUB b 0', 'ä']) {
        const named = (error: Error) => error instanceof BusError && error.message.includes(`"${subject}"`);
        assert.throws(() => a.publish(subject, utf8('')), named);
        assert.throws(() => a.subscribe(subject, () => undefined), named);
      }
    },
  ],
];

const APPENDS: readonly Promised[] = [
  [
    'keeps an append that expects the last sequence of its subject or stream, and refuses others',
    async (world) => {
      const { append, subject } = await withStream(world, world.bus('a'));
      assert.deepEqual(await append({ expects: { lastOfSubject: 0 } }), committed(1));
      assert.deepEqual(await append({ expects: { lastOfSubject: 0 } }), { at: 'refused' });
      assert.deepEqual(await append({ expects: { lastOfSubject: 0 }, subject: `${subject}.other` }), committed(2));
      assert.deepEqual(await append({ expects: { lastOfSubject: 1 } }), committed(3));
      assert.deepEqual(await append({ expects: { lastOfStream: 2 } }), { at: 'refused' });
      assert.deepEqual(await append({ expects: { lastOfStream: 3 } }), committed(4));
      assert.deepEqual(await append({}), committed(5));
    },
  ],
  [
    'sends what lies in shared memory from where it lies, each piece of it',
    async (world) => {
      const a = world.bus('a');
      const { append, settings } = await withStream(world, a);
      const area = new Uint8Array(new SharedArrayBuffer(300));
      for (let i = 0; i < area.length; i++) area[i] = i;
      await Promise.all([0, 1, 2].map((n) => append({ bytes: area.subarray(100 * n, 100 * n + n + 1) })));
      const found = await readAll(a, settings, 1);
      assert.deepEqual(new Set(found.map(({ bytes }) => bytes.join())), new Set(['0', '100,101', '200,201,202']));
    },
  ],
  [
    'may have kept an append without an answer: the last message shows it, and a repetition is refused',
    async (world) => {
      const a = world.bus('a');
      const { append, settings, subject } = await withStream(world, a);
      assert.deepEqual(await append({ bytes: utf8('first') }), committed(1));
      world.deafen('a');
      const lost: Partial<Append> = { bytes: utf8('second'), expects: { lastOfSubject: 1 } };
      assert.deepEqual(await append({ ...lost, timeoutMs: DEAF_MS }), { at: 'unknown' });
      world.cut('a');
      await down(a);
      world.restore('a');
      assert.deepEqual(await append({ ...lost, timeoutMs: 10_000 }), { at: 'refused' });
      const found = await a.last(settings.name, subject);
      assert.deepEqual([found?.sequence, textOf(found?.bytes)], [2, 'second']);
    },
  ],
  [
    'ends an append in time while there is no connection, and does not send it afterwards',
    async (world) => {
      const a = world.bus('a');
      const { append, settings } = await withStream(world, a);
      world.cut('a');
      await down(a);
      const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(1);
      assert.deepEqual(await append({ bytes: shared, timeoutMs: DEAF_MS }), { at: 'unknown' });
      shared.fill(2);
      world.restore('a');
      assert.deepEqual(await append({ bytes: utf8('next'), timeoutMs: 10_000 }), committed(1));
      assert.equal((await readAll(a, settings, 1)).length, 1);
    },
  ],
  [
    'sends an append that waited for a connection as soon as there is one',
    async (world) => {
      const a = world.bus('a');
      const { append } = await withStream(world, a);
      world.cut('a');
      await down(a);
      const appended = append({ timeoutMs: 10_000 });
      world.restore('a');
      assert.deepEqual(await appended, committed(1));
    },
  ],
  [
    'says that a stream is full, and goes on once it is purged or may grow',
    async (world) => {
      const a = world.bus('a');
      const { append, settings, subject } = await withStream(world, a, { bytesMax: 20_000 });
      const bytes = new Uint8Array(9000);
      assert.deepEqual([await append({ bytes }), await append({ bytes })], [committed(1), committed(2)]);
      assert.deepEqual(await append({ bytes }), { at: 'full' });
      await a.purge(settings.name, subject, 2);
      assert.deepEqual(await append({ bytes, expects: { lastOfSubject: 2 } }), committed(3));
      assert.deepEqual(await append({ bytes }), { at: 'full' });
      await a.alterStream({ ...settings, bytesMax: 40_000 });
      assert.deepEqual(await append({ bytes }), committed(4));
    },
  ],
  [
    'removes the oldest messages of a stream that drops them, and finds the others by their sequence',
    async (world) => {
      const a = world.bus('a');
      const { append, settings, subject } = await withStream(world, a, { bytesMax: 20_000, dropsOldest: true });
      const bytes = new Uint8Array(9000);
      for (let sequence = 1; sequence <= 4; sequence++) assert.deepEqual(await append({ bytes }), committed(sequence));
      const [state] = await a.streams(world.name);
      assert.deepEqual([state?.firstSequence, state?.lastSequence, state?.dropsOldest], [3, 4, true]);
      const found = [2, 3, 4, 5].map((sequence) => a.message(settings.name, sequence));
      assert.deepEqual(
        (await Promise.all(found)).map(
          (message) => message && [message.subject, message.sequence, message.bytes.length],
        ),
        [undefined, [subject, 3, 9000], [subject, 4, 9000], undefined],
      );
      assert.deepEqual(await append({ bytes, expects: { lastOfSubject: 3 } }), { at: 'refused' });
      assert.deepEqual(await append({ bytes, expects: { lastOfSubject: 4 } }), committed(5));
    },
  ],
  [
    'lets a seal fence off an appender that goes on: none of its appends is kept after the seal',
    async (world) => {
      const [owner, taker] = [world.bus('owner'), world.bus('taker')];
      const { settings, subject, append } = await withStream(world, owner);
      let last = 0;
      let refused: Appended | undefined;
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      const appending = (async () => {
        while (refused === undefined) {
          const appended = await append({ bytes: utf8(String(last + 1)), expects: { lastOfSubject: last } });
          if (appended.at === 'committed') last = appended.sequence;
          else refused = appended;
          if (last === 20) resolve();
        }
      })();
      await begun;
      const seal = await taker.append({
        ...{ stream: settings.name, subject, bytes: utf8('seal'), timeoutMs: SOON_MS },
      });
      await appending;
      assert.equal(seal.at, 'committed');
      const found = await readAll(taker, settings, 1);
      assert.deepEqual(refused, { at: 'refused' });
      assert.equal(textOf(found.at(-1)?.bytes), 'seal');
      assert.deepEqual([found.length - 1, found.at(-1)?.sequence], [last, seal.at === 'committed' && seal.sequence]);
    },
  ],
  [
    'replaces all messages of a subject with a batch, or does nothing at all',
    async (world) => {
      const a = world.bus('a');
      const { settings, subject, append } = await withStream(world, a);
      const other = `${subject}.other`;
      await append({ bytes: utf8('old') });
      await append({ bytes: utf8('other'), subject: other });
      const replace = (lastOfSubject: number, texts: readonly string[]) =>
        a.replace({
          ...{ stream: settings.name, subject, messages: texts.map(utf8), timeoutMs: SOON_MS },
          expects: { lastOfSubject },
        });
      assert.deepEqual(await replace(7, ['x', 'y', 'z']), { at: 'refused' });
      assert.deepEqual(await texts(a, settings), ['old', 'other']);
      assert.deepEqual(await replace(1, ['x', 'y', 'z']), committed(5));
      assert.deepEqual(await texts(a, settings), ['other', 'x', 'y', 'z']);
      assert.deepEqual(await replace(5, ['one']), committed(6));
      assert.deepEqual(await texts(a, settings), ['other', 'one']);
      await assert.rejects(replace(6, []), BusError);
    },
  ],
];

const STREAMS: readonly Promised[] = [
  [
    'accepts a stream that exists with the same settings, tells its state, and deletes it',
    async (world) => {
      const a = world.bus('a');
      const { settings, append } = await withStream(world, a, { bytesMax: 1_000_000, ageMaxMs: 3_600_000 });
      await append({});
      await a.makeStream(settings);
      await assert.rejects(a.makeStream({ ...settings, subjects: [`${world.name}.else`] }), BusError);
      const [found, ...others] = await a.streams(world.name);
      assert.deepEqual(others, []);
      const { bytes = 0, ...state } = found ?? {};
      assert.deepEqual(state, { ...settings, firstSequence: 1, lastSequence: 1, messages: 1 });
      assert.ok(bytes > 0);
      assert.deepEqual([await a.deleteStream(settings.name), await a.deleteStream(settings.name)], [true, false]);
      await assert.rejects(a.last(settings.name, 'x'), { name: 'BusError', message: /stream not found/ });
    },
  ],
  [
    'finds the last message of a subject, or none',
    async (world) => {
      const a = world.bus('a');
      const { settings, subject, append } = await withStream(world, a);
      assert.equal(await a.last(settings.name, subject), undefined);
      for (const text of ['one', 'two']) await append({ bytes: utf8(text) });
      const { bytes, ...found } = (await a.last(settings.name, subject)) ?? {};
      assert.deepEqual([found, textOf(bytes)], [{ subject, sequence: 2 }, 'two']);
    },
  ],
  [
    'reads the messages of some subjects from a sequence on, in batches, and none that come afterwards',
    async (world) => {
      const a = world.bus('a');
      const { settings, subject, append } = await withStream(world, a);
      const names = ['x', 'y', 'z'];
      const appendSome = async () => {
        for (let i = 0; i < 1200; i += 100) {
          const some = Array.from({ length: 100 }, (_, n) => append({ subject: `${subject}.${names[n % 3]}` }));
          await Promise.all(some);
        }
      };
      await appendSome();
      const subjects = [`${subject}.x`, `${subject}.z`];
      const reader = a.read(settings.name, { subjects, fromSequence: 301 });
      const found: Stored[] = [];
      await reader.next((message) => found.push(storedOf(message)));
      const first = found.length;
      await append({ subject: `${subject}.x` });
      while (await reader.next((message) => found.push(storedOf(message))));
      assert.ok(first > 0 && first < found.length, `${first} of ${found.length}`);
      assert.ok(found.every((message) => subjects.includes(message.subject)));
      const sequences = found.map(({ sequence }) => sequence);
      assert.deepEqual(
        sequences,
        sequences.toSorted((one, other) => one - other),
      );
      const wanted = (await readAll(a, settings, 301)).filter(
        (message) => message.sequence <= 1200 && subjects.includes(message.subject),
      );
      assert.deepEqual(found, wanted);
    },
  ],
  [
    'reads an empty range to its end at once',
    async (world) => {
      const a = world.bus('a');
      const { settings, append } = await withStream(world, a);
      assert.deepEqual(await readAll(a, settings, 1), []);
      await append({});
      assert.deepEqual(await readAll(a, settings, 2), []);
      assert.deepEqual(await readAll(a, { ...settings, subjects: [`${world.name}.none`] }, 1), []);
    },
  ],
  [
    'purges the messages of a subject before a sequence, and no others',
    async (world) => {
      const a = world.bus('a');
      const { settings, subject, append } = await withStream(world, a);
      for (const text of ['1', '2', '3']) {
        await append({ bytes: utf8(text) });
        await append({ bytes: utf8(`${text} of the other`), subject: `${subject}.other` });
      }
      await a.purge(settings.name, subject, 5);
      const others = ['1 of the other', '2 of the other'];
      assert.deepEqual(await texts(a, settings), [...others, '3', '3 of the other']);
      await a.purge(settings.name, subject);
      assert.deepEqual(await texts(a, settings), [...others, '3 of the other']);
      assert.deepEqual(await append({ expects: { lastOfSubject: 0 } }), committed(7));
    },
  ],
  [
    'follows a stream in order, without gaps or duplicates, while its connection is cut again and again',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const { settings, append } = await withStream(world, a);
      for (let i = 1; i <= 10; i++) await append({ bytes: utf8(String(i)) });
      const found: number[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      let cutAt = 30;
      const following = b.follow(settings.name, { subjects: settings.subjects, fromSequence: 5 }, (message) => {
        assert.equal(textOf(look(message.bytes)), String(message.sequence));
        found.push(message.sequence);
        if (message.sequence === 300) resolve();
        if (message.sequence < cutAt) return;
        cutAt += 80;
        world.cut('b');
        queueMicrotask(() => world.restore('b'));
      });
      await following.ready;
      for (let i = 11; i <= 300; i++) await append({ bytes: utf8(String(i)) });
      await promise;
      following.end();
      assert.deepEqual(
        found,
        Array.from({ length: 296 }, (_, i) => i + 5),
      );
    },
  ],
  [
    'ends whatever is waiting when it is closed, and refuses later calls',
    async (world) => {
      const [a, b] = [world.bus('a'), world.bus('b')];
      const { append } = await withStream(world, a);
      const silent = b.subscribe(`${world.name}.silent`, () => undefined);
      await silent.ready;
      const asked = a.request(`${world.name}.silent`, utf8(''), { timeoutMs: 60_000, read: () => 1 });
      world.cut('a');
      await down(a);
      const appended = append({ timeoutMs: 60_000 });
      await a.close();
      assert.deepEqual(await appended, { at: 'unknown' });
      assert.deepEqual(await asked, { at: 'unanswered' });
      assert.equal(a.publish(`${world.name}.m`, utf8('')), false);
      await assert.rejects(append({}), { name: 'BusError', message: /closed/ });
    },
  ],
];

const PROMISES: readonly Promised[] = [...CORE, ...APPENDS, ...STREAMS];

interface Stored {
  readonly subject: string;
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** Messages received on a subject, as strings. */
class ReceivedMessages {
  readonly texts: string[] = [];
  readonly ready: Promise<void>;
  readonly end: () => void;
  #notify: () => void = () => undefined;

  constructor(bus: Bus, subject: string) {
    const { ready, end } = bus.subscribe(subject, ({ bytes }) => {
      this.texts.push(textOf(look(bytes)));
      this.#notify();
    });
    this.ready = ready;
    this.end = end;
  }

  /** Resolves with all strings so far once this one has arrived. */
  until(text: string): Promise<readonly string[]> {
    return new Promise((resolve) => {
      this.#notify = () => this.texts.includes(text) && resolve(this.texts);
      this.#notify();
    });
  }
}

/** A stream of this world, and how to append to it. */
export async function withStream(world: Pick<BusWorld, 'name'>, bus: Bus, more: Partial<StreamSettings> = {}) {
  const subject = `${world.name}.s`;
  const settings: StreamSettings = {
    ...{ name: `${world.name}_S`, subjects: [subject, `${subject}.>`], replicas: 1, storage: 'file' },
    ...more,
  };
  await bus.makeStream(settings);
  const append = (given: Partial<Append>) =>
    bus.append({ stream: settings.name, subject, bytes: utf8('text'), timeoutMs: SOON_MS, ...given });
  return { settings, subject, append };
}

export async function readAll(bus: Bus, { name, subjects }: StreamSettings, fromSequence: number): Promise<Stored[]> {
  const reader = bus.read(name, { subjects, fromSequence });
  const found: Stored[] = [];
  while (await reader.next((message) => found.push(storedOf(message))));
  return found;
}

async function texts(bus: Bus, settings: StreamSettings): Promise<string[]> {
  return (await readAll(bus, settings, 1)).map(({ bytes }) => textOf(bytes));
}

function storedOf({ subject, sequence, bytes }: Message): Stored {
  return { subject, sequence, bytes: copied(bytes) };
}

function committed(sequence: number): Appended {
  return { at: 'committed', sequence };
}

/** Resolves when the bus has a connection. */
export function up(bus: Bus): Promise<void> {
  return becomes(bus, 'up');
}

/** Resolves when it has none. */
export function down(bus: Bus): Promise<void> {
  return becomes(bus, 'down');
}

function becomes(bus: Bus, wanted: 'up' | 'down'): Promise<void> {
  return new Promise((resolve) => {
    const stop = bus.watch(({ at }) => {
      if (at !== wanted) return;
      stop();
      resolve();
    });
  });
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(Uint8Array.from(bytes ?? []));
}

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { ASK, REPLY } from '../../src/cluster/messages/messages.ts';
import { type AskRequest, type OwnerReply, unpackAnswer, unpackForward } from '../../src/cluster/rpc/owner_protocol.ts';
import type { SentRequest } from '../../src/cluster/rpc/owner_protocol.ts';
import { RequestBatch, BatchBuffers } from '../../src/cluster/rpc/request_buffer.ts';
import { RemoteShards } from '../../src/cluster/routing/remote_shards.ts';
import type { OwnerClient } from '../../src/cluster/rpc/owner_client.ts';
import { HubError } from '../../src/errors.ts';
import { lend } from '../../src/model/borrowed.ts';
import { LocationPacker } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { type CountedRun, checkRun, scannedOf } from '../../src/wire/received_run.ts';
import { accepted, shown } from '../wire/accepted_locations.ts';
import { locationOf, T0, TestHub, takenOf } from './owner_server_world.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const BUFFERS = new BatchBuffers();
const TIMES = { generatedMs: T0, receivedMs: T0 };

function owner(context: TestContext, more: Partial<ConstructorParameters<typeof TestHub>[0]> = {}) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const hub = new TestHub({ cluster, hub: 'a', ...more });
  hub.apply(1, 'a');
  return { clock, hub };
}

/** A request with one location per string. */
function request(
  texts: readonly string[],
  {
    number = 1,
    applied = 1,
    ingress = 'front',
    sentBefore = [] as readonly SentRequest[],
    version = 1 as number | undefined,
  } = {},
): Uint8Array {
  const parcel = new RequestBatch(BUFFERS);
  const run = (run: Parameters<RequestBatch['take']>[0]): void => void parcel.take(run, 0);
  const shards = new RemoteShards({ run } as unknown as OwnerClient);
  for (const text of texts) shards.location(locationOf('p', text), TIMES);
  return Uint8Array.from(parcel.message({ applied, ingress, number, sentBefore, version }));
}

async function replyTo({ door }: TestHub, bytes: Uint8Array): Promise<OwnerReply> {
  const lent = Uint8Array.from(bytes);
  const answer = door.forwarded(lent);
  lent.fill(0xdd);
  return REPLY.read(lend(await answer));
}

async function asked({ door }: TestHub, request: AskRequest): Promise<OwnerReply> {
  return REPLY.read(lend(await door.asked(ASK.pack(request))));
}

const textsOf = ({ taken }: TestHub): string[] => taken.map(({ text }) => text);

test('A request that comes again is taken once, and answered as it was', async (context) => {
  const { hub } = owner(context, { stepMs: () => 700 });
  const bytes = request(['x', 'y']);
  const [first, again] = await Promise.all([replyTo(hub, bytes), replyTo(hub, bytes)]);
  assert.deepEqual([first, again, await replyTo(hub, bytes)], [{ at: 'done' }, { at: 'done' }, { at: 'done' }]);
  assert.deepEqual(textsOf(hub), ['x', 'y']);
  await replyTo(hub, request(['z'], { number: 2 }));
  const late = await replyTo(hub, bytes);
  assert.ok(late.at === 'failed' && late.error.message === 'Request 1 is older than 2');
  assert.deepEqual(textsOf(hub), ['x', 'y', 'z']);
  assert.deepEqual(
    await replyTo(hub, request(['other'], { ingress: 'another' })),
    { at: 'done' },
    'numbers are per door',
  );
});

test('A request that was rejected as busy is taken when it is repeated, one for another hub is not', async (context) => {
  const { hub } = owner(context);
  hub.isFull = true;
  assert.deepEqual(await replyTo(hub, request(['x'])), { at: 'busy' });
  hub.isFull = false;
  hub.apply(2, 'b');
  assert.deepEqual(await replyTo(hub, request(['x'])), { at: 'moved', applied: 2, isUntouched: true });
  hub.apply(3, 'a');
  const late = await replyTo(hub, request(['x']));
  assert.deepEqual(
    late,
    { at: 'moved', applied: 2, isUntouched: true },
    'its sender may have sent the locations elsewhere',
  );
  assert.deepEqual(await replyTo(hub, request(['x'], { number: 2 })), { at: 'done' });
  assert.deepEqual(textsOf(hub), ['x']);
});

test('A failure of shards is repeated to repeated requests, unless this hub is no longer the owner', async (context) => {
  const { clock, hub } = owner(context, { stepMs: () => 100 });
  const sent = replyTo(hub, request(['x']));
  await clock.wait(50);
  hub.isSealed = true;
  assert.deepEqual(await sent, { at: 'moved', applied: 1, isUntouched: false });
  assert.deepEqual(
    await replyTo(hub, request(['x'])),
    { at: 'moved', applied: 1, isUntouched: false },
    'the reply is repeated',
  );
  assert.deepEqual(await replyTo(hub, request(['y'], { number: 2 })), { at: 'moved', applied: 1, isUntouched: true });
  assert.deepEqual(hub.taken, []);
});

test('A journaled request is noted, one that another hub is to repeat is not, and one that has failed is dropped', async (context) => {
  const { clock, hub } = owner(context, { stepMs: () => 100 });
  await replyTo(hub, request(['x'], { number: 4 }));
  assert.deepEqual([hub.requests.numbers, hub.requests.neededFrom], [[{ ingress: 'front', number: 4 }], Infinity]);
  const sent = replyTo(hub, request(['y'], { number: 5 }));
  await clock.wait(50);
  hub.isSealed = true;
  await sent;
  assert.deepEqual([hub.requests.numbers, hub.requests.neededFrom], [[], 1]);
  hub.door.forgetIngress('front');
  assert.equal(hub.requests.neededFrom, Infinity);
});

test('A request waits until the configuration that it names is applied', async (context) => {
  const { clock, hub } = owner(context);
  clock.schedule(500, () => hub.apply(9, 'a'));
  assert.deepEqual(await replyTo(hub, request(['x'], { applied: 9 })), { at: 'done' });
  assert.equal(clock.nowMs >= 500, true);
  assert.deepEqual(await replyTo(hub, request(['y'], { applied: 10, number: 2 })), { at: 'busy' });
  assert.deepEqual(textsOf(hub), ['x']);
});

test('Requests of a former member are rejected', async (context) => {
  const { hub } = owner(context);
  await replyTo(hub, request(['x'], { number: 7 }));
  hub.door.forgetIngress('front');
  const { at, error } = (await replyTo(hub, request(['x'], { number: 7 }))) as { at: string; error?: HubError };
  assert.deepEqual([at, error?.code], ['failed', 'HUB_UNAVAILABLE']);
  assert.deepEqual(textsOf(hub), ['x']);
});

test('Of a request that comes again from an owner before only that is taken which is not recorded', async (context) => {
  const { hub } = owner(context);
  const [whole] = unpackForward(request(['x', 'y', 'z'])).runs;
  hub.unrecorded = async ({ runs, sentBefore }) => {
    assert.deepEqual(sentBefore, [{ owner: 'gone', number: 4 }]);
    assert.deepEqual(runs.flatMap(takenOf), takenOf(whole as CountedRun));
    return runs.map((run) => ({ ...run, bytes: run.bytes.subarray(run.bytes.length / 3), count: 2 }));
  };
  assert.deepEqual(await replyTo(hub, request(['x', 'y', 'z'], { sentBefore: [{ owner: 'gone', number: 4 }] })), {
    at: 'done',
  });
  assert.deepEqual(textsOf(hub), ['y', 'z']);
});

test('An owner server accepts at most 64 MiB at once', async (context) => {
  const { hub } = owner(context, { stepMs: () => 100 });
  const text = 'x'.repeat(3_900_000);
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => replyTo(hub, request([text], { ingress: `door ${i}` }))),
  );
  assert.deepEqual([...new Set(replies.map(({ at }) => at))].sort(), ['busy', 'done']);
  assert.equal(hub.taken.length, replies.filter(({ at }) => at === 'done').length);
  assert.equal(hub.taken.length, 17);
  for (let number = 2; number < 22; number++)
    assert.deepEqual(await replyTo(hub, request([text], { number })), { at: 'done' });
});

function changed(bytes: Uint8Array, at: number, value: readonly number[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(value, at);
  return copy;
}

/** Replaces the tail of a message, which was not sent before unless the tail says so. */
function withTail(bytes: Uint8Array, tail: unknown): Uint8Array {
  const end = 8 + new DataView(bytes.buffer).getUint32(4, true);
  const whole = Array.isArray(tail) && tail.length === 4 ? [...tail.slice(0, 3), 1, [], tail[3]] : tail;
  return Uint8Array.of(...bytes.subarray(0, end), ...new Packr({ useRecords: false }).pack(whole));
}

const GOOD = request(['abc']);
const SIZE = 8 + 96 + 1 + 3;
const ROW = [['zone', 'EPSG:4326'], SIZE - 8, 1];
const f64 = (value: number): number[] => [...new Uint8Array(new Float64Array([value]).buffer)];

const MALFORMED: readonly [what: string, bytes: Uint8Array, message: RegExp][] = [
  ['that is empty', new Uint8Array(0), /: 0 bytes are no request$/],
  ['of another version', changed(GOOD, 0, [9]), /: version must be 3, but is 9$/],
  ['that ends within its records', GOOD.subarray(0, 50), /: 50 bytes end within the records$/],
  ['that ends behind its records', GOOD.subarray(0, SIZE), /: 0 bytes are not msgpack$/],
  ['with another tail', withTail(GOOD, 5), /: it must be a list, but is 5$/],
  ['without a sequence', withTail(GOOD, [-1, 'front', 1, [ROW]]), /: applied must be a whole number, but is -1$/],
  ['of nobody', withTail(GOOD, [1, '', 1, [ROW]]), /: ingress must be a string that is not empty, but is ""$/],
  ['without a number', withTail(GOOD, [1, 'front', 1.5, [ROW]]), /: number must be a whole number, but is 1\.5$/],
  [
    'that was sent before by no number',
    withTail(GOOD, [1, 'front', 1, 1, [['gone', -1]], [ROW]]),
    /: sentBefore must be a list, .*, but is \[\["gone",-1\]\]$/,
  ],
  ['without runs', withTail(GOOD, [1, 'front', 1, null]), /: runs must be a list, .*, but is null$/],
  [
    'with a wrong run',
    withTail(GOOD, [1, 'front', 1, [[[1], 2, 3]]]),
    /: runs must be a list, .*, but is \[\[\[1\],2,3\]\]$/,
  ],
  [
    'with a run beyond its records',
    withTail(GOOD, [1, 'front', 1, [[[], 900, 1]]]),
    /: bytes of a run must be at most 100/,
  ],
  ['with records of no run', withTail(GOOD, [1, 'front', 1, []]), /: bytes of all runs must be 100, but is 0$/],
  ['with another count', withTail(GOOD, [1, 'front', 1, [[ROW[0], 100, 2]]]), /run: records must be 2, but are 1$/],
  ['without names', withTail(GOOD, [1, 'front', 1, [[['zone'], 100, 1]]]), /crs must be one of 1 names, but is 1$/],
  [
    'with a cut record',
    withTail(GOOD, [
      1,
      'front',
      1,
      [
        [ROW[0], 50, 1],
        [ROW[0], 50, 1],
      ],
    ]),
    /but 50 bytes are left$/,
  ],
  ['with a record of no size', changed(GOOD, 8, [0, 0, 0, 0]), /record 0 of a run: size must be 96 to 100, but is 0$/],
  ['with a record that is too long', changed(GOOD, 8, [200]), /size must be 96 to 100, but is 200$/],
  ['without an id', changed(GOOD, 12, [0]), /bytes of the id must be 1 to 4, but are 0$/],
  ['with an id that is too long', changed(GOOD, 12, [5]), /bytes of the id must be 1 to 4, but are 5$/],
  ['with a position that is too long', changed(GOOD, 22, [4]), /bytes of the position must be at most 3, but are 4$/],
  ['with a position that is too short', changed(GOOD, 22, [2]), /bytes of the position must be 0, or 12 and more/],
  ['of an unknown type', changed(GOOD, 20, [99]), /provider type must be below \d+, but is 99$/],
  ['without a time', changed(GOOD, 40, f64(Number.NaN)), /time must be within .* ms, but is NaN$/],
  ['with an invalid time', changed(GOOD, 40, f64(1e300)), /time must be within .* ms, but is 1e\+300$/],
  ['without a place', changed(GOOD, 48, f64(Number.NaN)), /x must be a finite number, but is NaN$/],
];

for (const [what, bytes, message] of MALFORMED) {
  test(`A request ${what} is rejected, and the server continues`, async (context) => {
    const { hub } = owner(context);
    const reply = await replyTo(hub, bytes);
    assert.ok(reply.at === 'failed', reply.at);
    assert.equal(reply.error.code, 'HUB_INTERNAL');
    assert.match(reply.error.message, message);
    assert.deepEqual(hub.notices, [
      `Skipped a malformed message about objects that this hub owns: ${reply.error.message}`,
    ]);
    assert.deepEqual(await replyTo(hub, request(['good'], { number: 2 })), { at: 'done' });
    assert.deepEqual(textsOf(hub), ['good']);
  });
}

test('For any bytes, a worker can read the locations that an owner server passes on', () => {
  const packer = new LocationPacker();
  const change = fc.record({ at: fc.nat(), value: fc.nat(255) });
  let [good, bad] = [0, 0];
  fc.assert(
    fc.property(
      fc.array(accepted, { minLength: 1, maxLength: 4 }),
      fc.array(change, { maxLength: 3 }),
      (locations, changes) => {
        const runs: Parameters<typeof checkRun>[0][] = [];
        const shards = new RemoteShards({
          run: (run: (typeof runs)[0]) => void runs.push(run),
        } as unknown as OwnerClient);
        for (const location of locations) {
          if (location.text.length > 1000) continue;
          shards.location(location, TIMES);
          const run = runs.pop();
          assert.ok(run);
          const bytes = Uint8Array.from(run.bytes);
          for (const { at, value } of changes) bytes[at % Math.min(bytes.length, 120)] = value;
          try {
            checkRun({ ...run, bytes });
          } catch (error) {
            assert.equal((error as Error).name, 'RunError');
            bad++;
            continue;
          }
          const receiving = {
            receivedMs: T0,
            eventTime: (ms: number) => ms,
            homeOf: () => 0,
            isNewProvider: () => false,
          };
          const body = scannedOf({ ...run, bytes }, receiving);
          const lane = [packer.copy(body, 0, bytes.length, 1, undefined)];
          assert.equal(unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: lane })).items.map(shown).length, 1);
          packer.done(lane);
          good++;
        }
      },
    ),
    { numRuns: 500, seed: 1 },
  );
  assert.ok(good > 100 && bad > 100, `${good} good, ${bad} bad`);
});

const READ = { kind: 'read', argument: { ask: 'fence_providers', id: 'f', spatial: false } } as const;
const HEAD = { applied: 1, ingress: 'front', number: 1, part: 0, version: 1 };

test('A repeated query is executed once while it is in progress, and a long answer is sent in parts', async (context) => {
  const { clock, hub } = owner(context);
  const texts = Array.from({ length: 2500 }, (_, i) => `${i} ${'x'.repeat(1000)}`);
  hub.answer = async () => {
    await clock.wait(800);
    return [{ texts }];
  };
  const [first, second] = await Promise.all([asked(hub, { ...HEAD, ...READ }), asked(hub, { ...HEAD, ...READ })]);
  assert.deepEqual([first, second], [{ at: 'working' }, { at: 'working' }]);
  const parts: Uint8Array[] = [];
  for (let part = 0; part < 3; part++) {
    const reply = await asked(hub, { ...HEAD, ...READ, part });
    assert.ok(reply.at === 'part' && reply.parts === 3, `${part}: ${reply.at}`);
    parts.push(reply.bytes);
  }
  assert.deepEqual(unpackAnswer(parts), [{ texts }]);
  assert.equal(hub.asked.length, 1);
  assert.deepEqual(await asked(hub, { ...HEAD, ...READ, part: 1 }), { at: 'gone' });
});

test('The rest of an answer that is not fetched expires', async (context) => {
  const { clock, hub } = owner(context);
  hub.answer = async () => [{ texts: ['x'.repeat(2_000_000)] }];
  const parts = async () => [
    (await asked(hub, { ...HEAD, ...READ })).at,
    (await asked(hub, { ...HEAD, ...READ, part: 1 })).at,
  ];
  assert.deepEqual(await parts(), ['part', 'part']);
  await asked(hub, { ...HEAD, ...READ });
  await clock.wait(11_000);
  assert.deepEqual(await asked(hub, { ...HEAD, ...READ, part: 1 }), { at: 'gone' });
  await asked(hub, { ...HEAD, ...READ });
  hub.door.forgetIngress('front');
  assert.deepEqual(await asked(hub, { ...HEAD, ...READ, part: 1 }), { at: 'gone' });
});

test('An owner server holds 256 MiB of answers, and is then busy', async (context) => {
  const { clock, hub } = owner(context);
  const bytes = 'x'.repeat(20_000_000);
  hub.answer = async () => [{ texts: [bytes] }];
  const ats: string[] = [];
  for (let number = 1; number <= 16; number++) ats.push((await asked(hub, { ...HEAD, ...READ, number })).at);
  assert.equal(ats.filter((at) => at === 'part').length, 14);
  assert.equal(ats.at(-1), 'busy');
  await clock.wait(11_000);
  assert.equal((await asked(hub, { ...HEAD, ...READ, number: 20 })).at, 'part');
});

test('A malformed request is rejected, and counted, and the first one is logged', async (context) => {
  const { hub } = owner(context);
  for (const value of [5, [3, 'erase'], [2, 'settle']]) {
    const reply = REPLY.read(lend(await hub.door.asked(new Packr({ useRecords: false }).pack(value))));
    assert.ok(reply.at === 'failed' && reply.error instanceof HubError);
    assert.match(reply.error.message, /^Cannot read a request of another hub: /);
  }
  assert.equal(hub.door.malformed.count, 3);
  assert.deepEqual(hub.asked, []);
  hub.apply(2, 'b');
  assert.deepEqual(await asked(hub, { ...HEAD, ...READ }), { at: 'moved', applied: 2, isUntouched: true });
});

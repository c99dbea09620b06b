import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NatsServer } from '../../bench/process/nats_server.ts';
import { type Bus, BusError, type StreamSettings } from '../../src/cluster/nats/bus.ts';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.ts';
import { look } from '../../src/model/borrowed.ts';
import { readAll, textOf, utf8 } from './contract.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats({ count: 3, syncInterval: 'always' });
const { skip } = nats;
const STREAM: StreamSettings = { name: 'three_S', subjects: ['three.s'], replicas: 3, storage: 'file' };

/** Leader of the stream; undefined while no server reports one. */
async function leaderOf({ name }: StreamSettings, bus: Bus): Promise<NatsServer | undefined> {
  const found = await bus.request(`$JS.API.STREAM.INFO.${name}`, utf8(''), {
    timeoutMs: 5000,
    read: (bytes) => JSON.parse(textOf(look(bytes))) as { readonly cluster: { readonly leader?: string } },
  });
  const leader = found.at === 'answered' ? (found.value.cluster.leader ?? '') : '';
  return nats.servers.servers[Number(leader.slice(1)) - 1];
}

/** Appends numbers one after another, each until it is stored, during the work and for a while afterwards. */
async function appendDuring(bus: Bus, work: Promise<unknown>, first: number): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let last = first;
  for (let until = Infinity; last < until; ) {
    if (isDone && until === Infinity) until = last + 20;
    const bytes = utf8(String(last + 1));
    const expects = { lastOfSubject: last };
    const appended = await bus.append({ stream: STREAM.name, subject: 'three.s', bytes, expects, timeoutMs: 700 });
    if (appended.at === 'committed') last = appended.sequence;
    if (appended.at !== 'refused') continue;
    // An earlier attempt succeeded: no other client appends.
    const found = await bus.last(STREAM.name, 'three.s').catch((error: unknown) => {
      assert.ok(error instanceof BusError);
      return undefined;
    });
    if (found !== undefined && found.sequence > last) {
      assert.deepEqual([found.sequence, textOf(found.bytes)], [last + 1, String(last + 1)]);
      last = found.sequence;
    }
  }
  await done;
  return last;
}

test('NatsBus loses, doubles and reorders nothing when the leading server is killed, or stopped', {
  skip,
}, async (t) => {
  const bus = openNatsBus({ servers: nats.servers.addresses, name: 'three', memberName: 'test' });
  const follower = openNatsBus({ servers: nats.servers.addresses, name: 'three', memberName: 'follower' });
  t.after(() => Promise.all([bus.close(), follower.close()]));
  await bus.makeStream(STREAM);
  const followed: number[] = [];
  let [wanted, reached] = [Infinity, () => {}];
  const take = (text: string): void => {
    followed.push(Number(text));
    if (followed.length >= wanted) reached();
  };
  follower.follow(STREAM.name, { subjects: STREAM.subjects, fromSequence: 1 }, ({ bytes }) =>
    take(textOf(look(bytes))),
  );
  const killed = async (): Promise<void> => {
    const leader = await leaderOf(STREAM, bus);
    await leader?.kill();
    await leader?.start();
  };
  const before = await appendDuring(bus, killed(), 0);
  const stopped = async (): Promise<void> => {
    const leader = await leaderOf(STREAM, bus);
    leader?.pause();
    while ([leader, undefined].includes(await leaderOf(STREAM, bus)));
    leader?.resume();
  };
  const last = await appendDuring(bus, stopped(), before);
  assert.ok(before >= 20 && last >= before + 20, `${before}, then ${last}`);
  const numbers = Array.from({ length: last }, (_, index) => index + 1);
  assert.deepEqual(
    (await readAll(bus, STREAM, 1)).map(({ bytes }) => Number(textOf(bytes))),
    numbers,
  );
  await new Promise<void>((resolve) => {
    wanted = last;
    reached = resolve;
    if (followed.length >= wanted) resolve();
  });
  assert.deepEqual(followed, numbers);
});

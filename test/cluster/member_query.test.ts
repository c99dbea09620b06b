import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type MemberAnswer, type QueryHandler, MemberQueries } from '../../src/cluster/rpc/member_query.ts';
import { up } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const QUESTION = { ask: 'sources', about: '' };
/** Answers of all hubs, and a query that reports their progress. */
const PATIENCE_MS = 500;

/** Hubs with the given answers: a function of the query. */
async function hubsOf(context: TestContext, answers: Readonly<Record<string, QueryHandler['answer'] | undefined>>) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const members = Object.keys(answers).map((name) => ({ name: `hub ${name}`, incarnation: name }));
  const hubs = await Promise.all(
    members.map(async ({ name: hubName, incarnation }) => {
      const bus = cluster.bus(incarnation);
      const hub = { bus, notices: [] as string[], asked: 0 };
      const gather = new MemberQueries({
        ...{ bus, name: 'hub', incarnation, hubName, elapsed: clock.elapsed },
        members: () => members,
        notice: (text) => hub.notices.push(text),
        schedule: (delayMs, callback) => cluster.schedule(incarnation, delayMs, callback),
      });
      const answer = answers[incarnation];
      if (answer !== undefined) {
        gather.open({
          answer(question) {
            hub.asked++;
            return answer(question);
          },
          problem: (_, value) => (value === 'nonsense' ? 'nonsense' : undefined),
        });
      }
      await Promise.all([gather.ready, up(bus)]);
      return Object.assign(hub, { gather });
    }),
  );
  return { clock, cluster, members, hubs: hubs as [(typeof hubs)[0], (typeof hubs)[0], (typeof hubs)[0]] };
}

const says = (value: unknown) => () => value;
const shown = (answered: readonly MemberAnswer[]) => answered.map(({ hub, value }) => [hub, value]);

test('Every hub gets the answers of all, in the order of their joins', async (t) => {
  const about: QueryHandler['answer'] = ({ ask, about: id }) => [`${ask} ${id}`, { n: 1.5, gone: null }];
  const { hubs } = await hubsOf(t, { c: about, a: says([]), b: says('b') });
  const all = await Promise.all(hubs.map(({ gather }) => gather.ask({ ask: 'source', about: 'hall 7' })));
  const expected = [
    ['hub c', ['source hall 7', { n: 1.5, gone: null }]],
    ['hub a', []],
    ['hub b', 'b'],
  ];
  for (const answered of all) assert.deepEqual(shown(answered), expected);
  assert.deepEqual(
    hubs.flatMap(({ notices }) => notices),
    [],
  );
});

test('A hub that has not joined yet answers as well', async (t) => {
  const { hubs, members } = await hubsOf(t, { a: says(1), b: says(2) });
  members.shift();
  assert.deepEqual(shown(await hubs[0].gather.ask(QUESTION)), [
    ['hub b', 2],
    ['hub a', 1],
  ]);
});

for (const [what, silence, why, waitedMs] of [
  ['hears nothing', 'deafen', 'has not answered within 500 ms', PATIENCE_MS],
  ['is gone without a word', 'kill', 'does not answer', 0],
] as const) {
  test(`A member that ${what} is missing from the answer, and named in the log once`, async (t) => {
    const { clock, cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2), c: says(3) });
    const [a] = hubs;
    cluster[silence]('b');
    const startMs = clock.nowMs;
    for (let times = 0; times < 3; times++) {
      assert.deepEqual(shown(await a.gather.ask(QUESTION)), [
        ['hub a', 1],
        ['hub c', 3],
      ]);
    }
    const tookMs = (clock.nowMs - startMs) / 3;
    assert.ok(tookMs >= waitedMs && tookMs < waitedMs + 50, `${tookMs} ms`);
    assert.deepEqual(a.notices, [`Cluster totals exclude hub "hub b" (b): it ${why}`]);
  });
}

test('A member that answers again is named once more when it is silent again', async (t) => {
  const { cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2) });
  const [a] = hubs;
  for (const expected of [1, 2]) {
    cluster.deafen('b');
    assert.equal((await a.gather.ask(QUESTION)).length, 1);
    cluster.restore('b');
    await up(hubs[1].bus);
    assert.equal((await a.gather.ask(QUESTION)).length, 2);
    assert.equal(a.notices.length, expected);
  }
});

test('An answer that comes late changes nothing', async (t) => {
  const { clock, cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2) });
  const [a, b] = hubs;
  cluster.stop('b');
  const asked = a.gather.ask(QUESTION);
  await clock.wait(PATIENCE_MS + 10);
  assert.deepEqual(shown(await asked), [['hub a', 1]]);
  cluster.resume('b');
  await clock.wait(100);
  assert.equal(b.asked, 1, 'it still answers');
  assert.deepEqual(shown(await a.gather.ask(QUESTION)), [
    ['hub a', 1],
    ['hub b', 2],
  ]);
});

for (const [what, bytes, isRead] of [
  ['a little less than a message', (1 << 20) - 10, true],
  ['more than the largest message', 9_000_000, true],
  ['more than is read', 65 << 20, false],
] as const) {
  test(`An answer of ${what} ${isRead ? 'comes whole' : 'is left out'}`, async (t) => {
    const big = new Uint8Array(bytes).map((_, index) => index % 251);
    const { hubs } = await hubsOf(t, { a: says(1), b: says(big) });
    const [a, b] = hubs;
    const answered = await a.gather.ask(QUESTION);
    assert.equal(answered.length, isRead ? 2 : 1);
    if (isRead) assert.ok(Buffer.from(answered[1]?.value as Uint8Array).equals(big));
    else assert.match(a.notices.join(), /"hub b" \(b\): it has answered 66 MiB, and at most 64 are read$/);
    assert.equal(b.asked, 1, 'it is made once');
  });
}

test('A query does not wait for a member that leaves in the meantime, and logs nothing', async (t) => {
  const { clock, cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2) });
  const [a] = hubs;
  cluster.deafen('b');
  const startMs = clock.nowMs;
  const asked = a.gather.ask(QUESTION);
  await clock.wait(20);
  a.gather.gone('b');
  assert.deepEqual(shown(await asked), [['hub a', 1]]);
  assert.ok(clock.nowMs - startMs < 50);
  assert.deepEqual(a.notices, []);
});

for (const [what, answer, why] of [
  ['cannot answer', () => assert.fail('out of order'), 'it cannot answer: out of order'],
  ['answers nonsense', says('nonsense'), 'it has answered what this version cannot read: nonsense'],
  ['is of a release that knows no questions', undefined, 'it does not answer'],
] as const) {
  test(`A member that ${what} is left out`, async (t) => {
    const { hubs } = await hubsOf(t, { a: says(1), b: answer });
    const [a] = hubs;
    assert.deepEqual(shown(await a.gather.ask(QUESTION)), [['hub a', 1]]);
    assert.deepEqual(a.notices, [`Cluster totals exclude hub "hub b" (b): ${why}`]);
  });
}

test('Callers that repeat a query in progress share the next round, with answers made after their calls', async (t) => {
  let count = 0;
  const { clock, hubs } = await hubsOf(t, { a: says(0), b: () => ++count });
  const [a] = hubs;
  const first = a.gather.ask(QUESTION);
  await clock.wait(0);
  const later = Array.from({ length: 100 }, () => a.gather.ask(QUESTION));
  assert.equal((await first)[1]?.value, 1);
  for (const answered of await Promise.all(later)) assert.equal(answered[1]?.value, 2);
  assert.equal((await a.gather.ask(QUESTION))[1]?.value, 3);
});

test('The number of different queries in progress is bounded', async (t) => {
  const { cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2) });
  const [a] = hubs;
  cluster.deafen('b');
  const asked = Array.from({ length: 1000 }, (_, index) => a.gather.ask({ ask: 'source', about: `${index}` }));
  await assert.rejects(a.gather.ask(QUESTION), {
    code: 'HUB_UNAVAILABLE',
    message: 'Cannot ask all hubs: 1,000 requests are waiting already',
  });
  await Promise.all(asked);
  assert.equal((await a.gather.ask(QUESTION)).length, 1);
});

test('A closed hub answers no queries, and waits for no answers', async (t) => {
  const { cluster, hubs } = await hubsOf(t, { a: says(1), b: says(2) });
  const [a, b] = hubs;
  cluster.deafen('b');
  const asked = a.gather.ask(QUESTION);
  a.gather.close();
  assert.equal((await asked).length, 1);
  cluster.restore('b');
  await up(b.bus);
  assert.equal((await b.gather.ask(QUESTION)).length, 1);
});

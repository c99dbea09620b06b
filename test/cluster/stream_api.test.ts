import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bus, StreamSettings } from '../../src/cluster/nats/bus.ts';
import { StreamApi } from '../../src/cluster/nats/stream_api.ts';
import { lend } from '../../src/model/borrowed.ts';
import { utf8 } from './contract.ts';

const MESSAGE = { message: { subject: 'hub.s', seq: 7, data: Buffer.from('text').toString('base64') } };

const UNAVAILABLE = { error: { err_code: 10008, description: 'JetStream system temporarily unavailable' } };

/** A bus whose first requests are not answered, or answered with an error, with their timeouts. */
function unanswering(
  count: number,
  error?: typeof UNAVAILABLE,
): { readonly bus: Pick<Bus, 'request'>; readonly timesMs: number[] } {
  const timesMs: number[] = [];
  const bus: Pick<Bus, 'request'> = {
    async request(_subject, _bytes, { timeoutMs, read }) {
      timesMs.push(timeoutMs);
      const isFailing = timesMs.length <= count;
      if (isFailing && error === undefined) return { at: 'unanswered' };
      return { at: 'answered', value: read(lend(utf8(JSON.stringify(isFailing ? error : MESSAGE)))) };
    },
  };
  return { bus, timesMs };
}

const SETTINGS: StreamSettings = { name: 'hub_S', subjects: ['hub.s'], replicas: 3, storage: 'file' };

test('StreamApi repeats a creation, and the list of one stream, while there is no leader', async () => {
  for (const ask of [(api: StreamApi) => api.make(SETTINGS), (api: StreamApi) => api.list('hub_S', 'hub.s')]) {
    const { bus, timesMs } = unanswering(4);
    await ask(new StreamApi(bus));
    assert.equal(timesMs.length, 5);
    assert.ok(Math.max(...timesMs) <= 1000, `${timesMs}`);
  }
});

test('StreamApi waits for the list of all streams, which takes as long as one of them has no leader', async () => {
  const { bus, timesMs } = unanswering(Infinity);
  await assert.rejects(new StreamApi(bus).list('hub_'), /no server answered within 5000 ms/);
  assert.deepEqual(timesMs, [5000]);
});

test('StreamApi repeats a request for the last message while the stream has no leader', async () => {
  const { bus, timesMs } = unanswering(2);
  const found = await new StreamApi(bus).last('hub_S', 'hub.s');
  assert.equal(found?.sequence, 7);
  assert.equal(timesMs.length, 3);
});

test('StreamApi stops requesting the last message after 5 s, and sends requests that change a stream once', async () => {
  const { bus, timesMs } = unanswering(Infinity);
  const api = new StreamApi(bus);
  await assert.rejects(api.last('hub_S', 'hub.s'), /no server answered within 5000 ms/);
  assert.equal(
    timesMs.reduce((sum, ms) => sum + ms),
    5000,
  );
  timesMs.length = 0;
  await assert.rejects(api.purge('hub_S', 'hub.s', undefined), /no server answered/);
  assert.deepEqual(timesMs, [5000]);
});

test('StreamApi pauses and repeats requests while the servers have no leader', async () => {
  for (const ask of [(api: StreamApi) => api.make(SETTINGS), (api: StreamApi) => api.last('hub_S', 'hub.s')]) {
    const { bus, timesMs } = unanswering(3, UNAVAILABLE);
    const pausesMs: number[] = [];
    await ask(new StreamApi(bus, async (ms) => void pausesMs.push(ms)));
    assert.deepEqual(pausesMs, timesMs.slice(0, 3));
  }
  const { bus, timesMs } = unanswering(Infinity, UNAVAILABLE);
  const api = new StreamApi(bus, async () => undefined);
  await assert.rejects(api.last('hub_S', 'hub.s'), /JetStream system temporarily unavailable/);
  assert.equal(timesMs.length, 6);
  await assert.rejects(api.purge('hub_S', 'hub.s', undefined), /temporarily unavailable/);
  assert.equal(timesMs.length, 7);
});

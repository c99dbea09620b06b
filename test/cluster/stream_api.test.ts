import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bus, RequestOptions, StreamSettings } from '../../src/cluster/nats/bus.ts';
import { StreamApi } from '../../src/cluster/nats/stream_api.ts';
import { lend } from '../../src/model/borrowed.ts';
import { utf8 } from './contract.ts';

const MESSAGE = { message: { subject: 'hub.s', seq: 7, data: Buffer.from('text').toString('base64') } };

const UNAVAILABLE = { error: { err_code: 10008, description: 'JetStream system temporarily unavailable' } };

type Sent = Pick<RequestOptions<unknown>, 'timeoutMs' | 'repeatMs'>;

/** A bus whose first requests are not answered, or answered with an error, with their options. */
function unanswering(
  count: number,
  error?: typeof UNAVAILABLE,
): { readonly bus: Pick<Bus, 'request'>; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const bus: Pick<Bus, 'request'> = {
    async request(_subject, _bytes, { read, ...options }) {
      sent.push(options);
      const isFailing = sent.length <= count;
      if (isFailing && error === undefined) return { at: 'unanswered' };
      return { at: 'answered', value: read(lend(utf8(JSON.stringify(isFailing ? error : MESSAGE)))) };
    },
  };
  return { bus, sent };
}

const SETTINGS: StreamSettings = { name: 'hub_S', subjects: ['hub.s'], replicas: 3, storage: 'file' };

test('StreamApi has reads, creations and the list of one stream repeated for 5 s: a stream may have no leader', async () => {
  const asks = [
    (api: StreamApi) => api.make(SETTINGS),
    (api: StreamApi) => api.list('hub_S', 'hub.s'),
    (api: StreamApi) => api.last('hub_S', 'hub.s'),
    (api: StreamApi) => api.message('hub_S', 7),
  ];
  for (const ask of asks) {
    const { bus, sent } = unanswering(Infinity);
    await assert.rejects(ask(new StreamApi(bus)), /no server answered within 5000 ms/);
    assert.deepEqual(sent, [{ timeoutMs: 5000, repeatMs: 250 }]);
  }
});

test('StreamApi sends requests that change a stream once, and the list of all streams, which waits for leaders', async () => {
  for (const ask of [
    (api: StreamApi) => api.list('hub_'),
    (api: StreamApi) => api.purge('hub_S', 'hub.s', undefined),
  ]) {
    const { bus, sent } = unanswering(Infinity);
    await assert.rejects(ask(new StreamApi(bus)), /no server answered within 5000 ms/);
    assert.deepEqual(sent, [{ timeoutMs: 5000 }]);
  }
});

test('StreamApi pauses and repeats requests while the servers have no leader, for 5 s at most', async () => {
  for (const ask of [(api: StreamApi) => api.make(SETTINGS), (api: StreamApi) => api.last('hub_S', 'hub.s')]) {
    const { bus, sent } = unanswering(3, UNAVAILABLE);
    const pausesMs: number[] = [];
    await ask(new StreamApi(bus, async (ms) => void pausesMs.push(ms)));
    assert.deepEqual(pausesMs, [250, 250, 250]);
    assert.equal(sent.length, 4);
  }
  const { bus, sent } = unanswering(Infinity, UNAVAILABLE);
  const api = new StreamApi(bus, async () => undefined);
  await assert.rejects(api.last('hub_S', 'hub.s'), /JetStream system temporarily unavailable/);
  assert.equal(sent.length, 20);
  await assert.rejects(api.purge('hub_S', 'hub.s', undefined), /temporarily unavailable/);
  assert.equal(sent.length, 21);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { param } from '../../src/cli/tail.ts';
import { parseLossless } from '../../src/model/lossless_numbers.ts';
import { fakeHub } from './fake_hub.ts';
import { runCli, startCli } from './run_cli.ts';

test('tail subscribes with its parameters, prints one event per line, and exits quietly when interrupted', async (context) => {
  const hub = await fakeHub(context, {
    subscribed(self) {
      self.publish('fence_events', [{ id: 1, text: 'ä' }, parseLossless('{"id":2,"properties":{"t":21.0}}')]);
    },
  });
  const { child, finished } = startCli(
    'tail',
    'fence_events',
    '--param',
    'fence_id=a',
    '--param',
    'fence_id=b',
    '--hub',
    hub.url,
  );
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  assert.deepEqual(await finished, {
    code: 0,
    out: '{"id":1,"text":"ä"}\n{"id":2,"properties":{"t":21.0}}\n',
    err: '',
  });
  assert.deepEqual(hub.frames, [{ event: 'subscribe', topic: 'fence_events', params: { fence_id: ['a', 'b'] } }]);
});

test('tail reports why a subscription is rejected', async (context) => {
  const hub = await fakeHub(context, {
    subscribe: () => ({ event: 'error', code: 10001, description: 'unknown topic' }),
  });
  const refusal = 'The hub rejects the subscription to nonsense: unknown topic (10001)\n';
  assert.deepEqual(await runCli('tail', 'nonsense', '--hub', hub.url), { code: 1, out: '', err: refusal });
});

test('tail reports when the hub closes the connection', async (context) => {
  const hub = await fakeHub(context, { subscribed: (self) => self.disconnect(1013, 'too slow') });
  const { code, err } = await runCli('tail', 'fence_events', '--hub', hub.url);
  assert.deepEqual({ code, err }, { code: 1, err: 'The hub has closed the WebSocket: too slow\n' });
});

test('param collects keys, and the values of a repeated key', () => {
  const both = param('b=x=y', param('a=1', {}));
  assert.deepEqual(both, { a: '1', b: 'x=y' });
  assert.deepEqual(param('a=3', param('a=2', both)), { a: ['1', '2', '3'], b: 'x=y' });
});

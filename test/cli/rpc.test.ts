import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RpcClient } from '../support/rpc_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { runCli, startCli } from './run_cli.ts';

let hub: TestHub;
let led: RpcClient;
before(async () => {
  hub = await openTestHub();
  led = await RpcClient.open(hub.origin);
  await led.register('Blink LED');
});
after(async () => {
  await led.close();
  await hub.close();
});

const rpc = (...args: readonly string[]) => runCli('rpc', ...args, '--hub', hub.origin);

test('rpc list prints each method with its handlers', async () => {
  const { body } = await hub.get('/rpc/available');
  const available = body as Readonly<Record<string, { readonly handler_id: readonly string[] }>>;
  const lines = Object.entries(available).map(([method, { handler_id: ids }]) => `${method}\t${ids.join()}\n`);
  assert.equal(lines.length, 3);
  assert.deepEqual(await rpc('list'), { code: 0, out: lines.join(''), err: '' });
});

test('rpc call prints the result, to the last digit', async () => {
  const { finished } = startCli('rpc', 'call', 'Blink LED', '--params', '{"times":3.0}', '--hub', hub.origin);
  const { id, params } = await led.next();
  assert.deepEqual(params, { times: 3 });
  led.send(`{"jsonrpc":"2.0","id":${id},"result":{"lit":1.50}}`);
  assert.deepEqual(await finished, { code: 0, out: '{"lit":1.50}\n', err: '' });
});

test('rpc call passes on the timeout and the aggregation', async () => {
  const options = ['--timeout', '60000', '--aggregation', '_return_first_success'];
  const { finished } = startCli('rpc', 'call', 'Blink LED', ...options, '--hub', hub.origin);
  await led.answer({ error: { code: 3, message: 'busy' } });
  const { code, err } = await finished;
  assert.equal(code, 1);
  assert.match(err, /^Cannot call Blink LED: .* all of 1 handlers have answered an error \(-32002\)\n$/);
  const late = await rpc('call', 'Blink LED', '--timeout', '1');
  assert.match(late.err, /within 1 ms \(-32001\)\n$/);
  await led.next();
});

test('rpc call reports why there is no such handler', async () => {
  const { code, out, err } = await rpc('call', 'com.omlox.ping', '--handler', 'nobody');
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^Cannot call com\.omlox\.ping: .*no handler of it has the id "nobody" \(-32000\)\n$/);
});

for (const [what, args, expected] of [
  ['params that are no object', ['--params', '[1]'], /It must be a JSON object/],
  ['params that are no JSON', ['--params', '{'], /It must be a JSON object/],
  ['an aggregation that there is not', ['--aggregation', 'best'], /Allowed choices are _all_within_timeout/],
  ['a handler with an aggregation', ['--handler', 'a', '--aggregation', '_return_first_error'], /cannot be used with/],
  ['a timeout of no time', ['--timeout', '0'], /It must be a whole number of 1 or more/],
] as const) {
  test(`rpc call rejects ${what}`, async () => {
    const { code, err } = await rpc('call', 'm', ...args);
    assert.equal(code, 1);
    assert.match(err, expected);
  });
}

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { testNats } from './test_nats.ts';

const nats = await testNats();
/** Part of the contract that runs in a few seconds; `npm run contract:cluster` runs all of it. */
const FILES = ['test/contract/go_client.test.ts', 'test/contract/go_client_socket.test.ts'];

test('two hubs behind a balancer act as one hub for the public Go client', { skip: nats.skip }, async () => {
  // A run of tests within a run of tests does nothing by default.
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  const env = { ...rest, TEST_CLUSTER_SERVERS: nats.servers.addresses.join(',') };
  const args = ['--test', '--test-reporter=tap', '--test-timeout=60000', ...FILES];
  const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
    execFile(process.execPath, args, { env }, (error, text) => resolve({ code: error?.code ?? 0, text }));
  });
  assert.equal(code, 0, text);
  // All of them were run.
  assert.match(text, /^# pass ([2-9]\d|\d{3})$/m, text);
  assert.match(text, /^# skipped 0$/m, text);
});

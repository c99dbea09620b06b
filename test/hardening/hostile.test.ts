import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubProcess } from '../durability/hub_process.ts';
import { parsePrometheus } from '../support/prometheus.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { attack, newReport } from './attack.ts';

/** Arguments, if the file runs by itself: the number of requests and frames, and the seed. */
const COUNT = Number(process.argv[2] ?? 2_000);
const SEED = Number(process.argv[3] ?? 10);
const MIB = 1 << 20;
/** Memory that the second half may add to that after the first. */
const GROWTH_MAX_MIB = 96;

async function metric(hub: HubProcess, name: string): Promise<number> {
  const response = await fetch(new URL('/metrics', hub.base));
  const lines = parsePrometheus(await response.text()).filter((line) => line.name === name);
  assert.ok(lines.length > 0, `There is no metric ${name}`);
  return lines.reduce((sum, { value }) => sum + value, 0);
}

/** Deletes everything that hostile requests have created, and waits for completion. Returns the memory in use. */
async function cleared(hub: HubProcess): Promise<number> {
  for (const path of ['/fences', '/trackables', '/anchors', '/providers', '/zones']) {
    const { status } = await fetch(hub.base + path, { method: 'DELETE' });
    assert.equal(status, 204, path);
  }
  assert.equal((await fetch(`${hub.base}/providers/locations`)).status, 200);
  return (await metric(hub, 'process_resident_memory_bytes')) / MIB;
}

test(`the hub answers ${COUNT} hostile requests and frames without an internal error`, {
  timeout: 1_800_000,
}, async (t) => {
  const hub = await HubProcess.start(temporaryFolder(), { severity_level: 'Info' });
  const port = Number(new URL(hub.base).port);
  const report = newReport();

  await attack(port, { count: COUNT / 2, seed: SEED, report });
  const before = await cleared(hub);
  await attack(port, { count: COUNT / 2, seed: SEED + 1, report });
  const after = await cleared(hub);

  const [received, processed, outdated, rejected] = await Promise.all(
    ['received', 'processed', 'outdated', 'rejected'].map((what) => metric(hub, `hub_locations_${what}_total`)),
  );
  const ended = await hub.stop();
  const faults = ended.stderr.split('\n').filter((line) => /"level":[56]0/.test(line) || !/^(\{.*\})?$/.test(line));
  const show = (counts: ReadonlyMap<number, number>): string => {
    return [...counts]
      .sort(([a], [b]) => a - b)
      .map(([key, count]) => `${key}: ${count}`)
      .join(', ');
  };
  const { requests, frames, unanswered, statuses, codes } = report;
  t.diagnostic(`${requests} requests by status (0: cut off): ${show(statuses)}; without an answer: ${unanswered}`);
  t.diagnostic(`${frames} frames; errors and ends by code: ${show(codes)}`);
  t.diagnostic(`locations: ${received} received, ${processed} processed, ${outdated} outdated, ${rejected} rejected`);
  t.diagnostic(`memory: ${before.toFixed(0)} MiB after the first half, ${after.toFixed(0)} MiB after the second`);

  assert.ok(requests + frames >= COUNT);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status >= 500 && status !== 503 && status !== 505),
    [],
  );
  assert.equal(unanswered, 0);
  assert.equal(codes.get(1011), undefined, 'a WebSocket was closed for a fault of the hub');
  for (const status of [200, 204, 400, 404, 405, 415, 431]) assert.ok(statuses.has(status), `never ${status}`);
  for (const code of [10000, 10001, 10002, 10005, 1003]) assert.ok(codes.has(code), `never ${code}`);
  assert.ok((processed ?? 0) > 10, `only ${processed} locations were processed`);
  assert.equal(received, (processed ?? 0) + (outdated ?? 0) + (rejected ?? 0));
  assert.deepEqual(faults, []);
  assert.equal(ended.code, 0);
  assert.ok(after - before < GROWTH_MAX_MIB, `memory has grown by ${(after - before).toFixed(0)} MiB`);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { HUB_ENV } from '../../src/launch.mjs';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/**
 * Memory of a fence per byte of its body, with eight shards. The front thread and each shard hold a numeric copy, and a
 * shard with an object near the fence prepares it.
 */
const skip = process.platform === 'linux' ? false : 'needs /proc';

const SETTINGS = { num_threads: 8 };
const FENCES = 30;
const TIMES = 20;

const rssOf = (hub: HubProcess): number => {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) * 1024;
};

/** A circle of about 7 km around 9° E, 50° N. */
function circle(positions: number): number[][][] {
  const ring = Array.from({ length: positions - 1 }, (_, i) => {
    const angle = (2 * Math.PI * i) / (positions - 1);
    return [9 + 0.1 * Math.cos(angle), 50 + 0.1 * Math.sin(angle)];
  });
  return [[...ring, ring[0] as number[]]];
}

for (const [positions, count] of [
  [100_000, FENCES],
  [2000, FENCES * 50],
] as const) {
  test(`${count} fences of ${positions} positions take at most ${TIMES} times the memory of their bodies`, {
    skip,
  }, async (t) => {
    Object.assign(process.env, HUB_ENV);
    const folder = temporaryFolder();
    let hub = await HubProcess.start(folder, SETTINGS);
    const put = async (id: string, more: object = {}) => {
      for (let n = 0; n < 64; n++) {
        assert.equal((await hub.put(`/providers/${id}${n}/location`, locationOf(`${id}${n}`, n, more)))?.status, 204);
      }
    };
    // Each shard has had objects elsewhere before there are fences, so that its own memory is not attributed to them.
    await put('far', { position: { type: 'Point', coordinates: [100, 10] } });
    const before = rssOf(hub);
    const body = { region: { type: 'Polygon', coordinates: circle(positions) } };
    const bytes = JSON.stringify(body).length * count;
    const start = performance.now();
    for (let n = 0; n < count; n++) assert.equal((await hub.post('/fences', body))?.status, 201);
    const took = performance.now() - start;
    const created = (rssOf(hub) - before) / bytes;
    // Every shard has an object in each of them.
    await put('p');
    const inside = (rssOf(hub) - before) / bytes;
    await hub.stop();
    hub = await HubProcess.start(folder, SETTINGS);
    const restarted = (rssOf(hub) - before) / bytes;
    const times = [created, inside, restarted].map((value) => value.toFixed(1));
    t.diagnostic(
      `${(bytes / 1e6).toFixed(0)} MB in ${Math.round(took)} ms: ${times[0]} times the bodies, ` +
        `${times[1]} with objects in them, ${times[2]} after a restart`,
    );
    assert.ok(Math.max(created, inside, restarted) < TIMES, times.join(', '));
    await hub.stop();
  });
}

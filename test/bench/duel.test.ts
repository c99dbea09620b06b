import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Contender, startHubContender } from '../../bench/process/contender.ts';
import { Duel, type Round } from '../../bench/process/duel.ts';
import { startTile38 } from '../../bench/process/tile38.ts';
import { heavyScene, stormScene } from '../../bench/profiles/scenes.ts';
import type { FencedScene } from '../../bench/profiles/site.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const STAND_IN = fileURLToPath(new URL('tile38_stand_in.ts', import.meta.url));
const CLI = fileURLToPath(new URL('../../bench/cli.ts', import.meta.url));
const ASKED = { rate: undefined, seconds: undefined, scale: 0.02, progress: () => undefined };

const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc to read CPU times from';

/** A round of a scene at a rate that both sustain, from a cold start. */
async function fight(duel: Duel, start: () => Promise<Contender>, scene: FencedScene): Promise<Round> {
  const contender = await start();
  try {
    await contender.createFences(scene.fences());
    // Walkers share their random numbers, so their paths are only equal for the same order of messages.
    await duel.enter(contender, { ...scene.plan, connections: 1 });
    const round = await duel.round(contender, { perSecond: 10, warmupSeconds: 0, seconds: 1 });
    await duel.leave(contender);
    return round;
  } finally {
    await contender.stop();
  }
}

test('Hub and peer receive the same updates and publish the same number of events', { skip }, async (t) => {
  const folder = temporaryFolder();
  const program = join(folder, 'tile38-server');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${STAND_IN}" "$@"\n`);
  chmodSync(program, 0o755);
  const duel = new Duel();
  t.after(() => duel.close());
  for (const scene of [stormScene(ASKED), heavyScene(ASKED)]) {
    const ours = await fight(duel, startHubContender, scene);
    const theirs = await fight(duel, () => startTile38(program), scene);
    assert.ok(ours.events > 0, `${scene.plan.kind}: ${ours.events} events`);
    assert.equal(ours.updates, theirs.updates);
    assert.equal(ours.events, theirs.events, scene.plan.kind);
    for (const { events, latency, microsPerUpdate, residentMb, wakeUpsPerSecond } of [ours, theirs]) {
      assert.equal(latency.count, events, 'the age of every event is measured');
      assert.ok(latency.p50 > 0 && microsPerUpdate > 0 && residentMb > 0);
      assert.ok(wakeUpsPerSecond.some((rate) => rate > 0));
    }
  }
});

test('The profile reports a missing peer', async () => {
  const env = { ...process.env, TILE38_SERVER: '/nowhere/tile38-server' };
  const ran = promisify(execFile)(process.execPath, [CLI, '--profile', 'peers'], { env });
  await assert.rejects(ran, /TILE38_SERVER names \/nowhere\/tile38-server, which is not there/);
});

/**
 * Playback of the past on the map, in a real browser:
 *
 *     node bench/ui/playback.bench.ts [objects] [speed] [seconds]
 *
 * Records this many moving trackables, with a location every two seconds, and plays the recording. Prints frames per second
 * and the busy share of the page's main thread, as counted by the browser. The hub and the browser share the
 * machine, and the browser draws without a graphics card.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { reportFrames } from './frames.ts';
import { ensureBuilt, HubChild } from './hub_child.ts';
import { locationOf } from './scene.ts';

const [objects = 1_000, speed = 60, seconds = 10] = process.argv.slice(2).map(Number);
const CHROMIUM = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';
const STEP_MS = 2_000;
const SIDE_METERS = 150;
/** End of the recording, early enough that playback does not reach the present. */
const RECORDED_MS = (seconds + 10) * speed * 1_000;
const START_MS = Math.floor((Date.now() - RECORDED_MS - 60_000) / 3_600_000) * 3_600_000;

async function main(): Promise<void> {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'hub-bench-playback-'));
  const hub = await HubChild.start(folder, { HUB_HISTORY: 'true' });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await createTrackables(hub.base);
    await record(hub.base);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const time = new Date(START_MS + 60_000).toISOString();
    const look = 'at=8.60105,50.05067&z=19&layers=trackables,labels,tails,clusters';
    await page.goto(`${new URL(hub.base).origin}/hub-ui/?${look}&t=${time}&speed=${speed}`);
    await page.locator('[data-counts]', { hasText: /^[\d,]{2,} trackables/ }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForTimeout(2_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    process.stdout.write(`${objects} trackables at ${speed}×, ${seconds} s, ${cpus().length} × ${cpus()[0]?.model}\n`);
    const slider = page.getByRole('slider');
    const fromMs = Number(await slider.inputValue());
    await reportFrames(page, session, { name: 'playback', seconds, more: () => [] });
    const playedMs = Number(await slider.inputValue()) - fromMs;
    process.stdout.write(`  played              ${(playedMs / 1_000).toFixed(0)} s of the past\n`);
  } finally {
    await browser.close();
    await hub.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createTrackables(base: string): Promise<void> {
  const create = (index: number): Promise<Response> => {
    const body = { type: 'virtual', name: `Thing ${index}`, location_providers: [`tag-${index}`] };
    return fetch(`${base}/trackables`, {
      method: 'POST',
      body: JSON.stringify({ ...body, calculate_collisions: false }),
    });
  };
  for (let i = 0; i < objects; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => create(i + k)));
}

async function record(base: string): Promise<void> {
  for (let ms = 0; ms < RECORDED_MS; ms += STEP_MS) {
    const batch = Array.from({ length: objects }, (_, index) => ({
      ...locationOf(index, ms, objects, SIDE_METERS),
      timestamp_generated: new Date(START_MS + ms).toISOString(),
    }));
    const { status } = await fetch(`${base}/providers/locations`, { method: 'PUT', body: JSON.stringify(batch) });
    if (status !== 204) throw new Error(`Cannot record: the hub answered ${status}`);
  }
}

await main();

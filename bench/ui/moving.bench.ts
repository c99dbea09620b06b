/**
 * Thousands of trackables that move on the live map, in a real browser:
 *
 *     npm run bench:ui -- [objects] [updates a second of each] [seconds]
 *
 * Prints frames per second and how much of the time the page's main thread was busy, by the browser's own count. The
 * hub, the sender and the browser share the machine, and the browser draws without a graphics card.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { ensureBuilt, HubChild } from './hub_child.ts';

const [objects = 5_000, rate = 5, seconds = 10] = process.argv.slice(2).map(Number);
const SIDE_METRES = 400;
const BATCH = 500;
const CHROMIUM = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';

async function main(): Promise<void> {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'hub-bench-ui-'));
  const hub = await HubChild.start(folder);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  let sender: Sender | undefined;
  try {
    await createTrackables(hub.base);
    sender = send(hub.base);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(
      `${new URL(hub.base).origin}/hub-ui/?at=8.6028,50.0518&z=18&layers=trackables,labels,tails,clusters`,
    );

    await page.locator('[data-counts]', { hasText: /^[\d,]{3,} trackables/ }).waitFor({ timeout: 60_000 });
    await page.waitForTimeout(3_000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    process.stdout.write(`${objects} trackables at ${rate} Hz, ${seconds} s each, ${cpus()[0]?.model}\n`);
    await report('live map', page, session, sender);
    await page.keyboard.press('+');
    await report('live map while it is dragged', page, session, sender, drag);
  } finally {
    sender?.stop();
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

interface Sender {
  readonly sent: () => number;
  readonly stop: () => void;
}

/** Every object on a circle of its own, all of them moved so often a second, in batches that are spread over the time. */
function send(base: string): Sender {
  let sent = 0;
  let next = 0;
  let isOver = false;
  const startMs = performance.now();
  const pump = async (): Promise<void> => {
    while (!isOver) {
      const dueMs = startMs + (sent / (objects * rate)) * 1_000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      const batch = Array.from({ length: BATCH }, (_, k) => locationOf((next + k) % objects, performance.now()));
      next = (next + BATCH) % objects;
      sent += BATCH;
      await fetch(`${base}/providers/locations`, { method: 'PUT', body: JSON.stringify(batch) });
    }
  };
  pump().catch((error: unknown) => {
    if (!isOver) throw error;
  });
  return {
    sent: () => sent,
    stop() {
      isOver = true;
    },
  };
}

function locationOf(index: number, nowMs: number): object {
  const columns = Math.ceil(Math.sqrt(objects));
  const angle = nowMs / 4_000 + index;
  const east = ((index % columns) / columns) * SIDE_METRES + 3 * Math.cos(angle);
  const north = (Math.floor(index / columns) / columns) * SIDE_METRES + 3 * Math.sin(angle);
  return {
    provider_id: `tag-${index}`,
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [8.6 + east / 71_700, 50.05 + north / 111_200] },
  };
}

async function drag(page: Page, untilMs: number): Promise<void> {
  await page.mouse.move(700, 400);
  await page.mouse.down();
  for (let i = 0; performance.now() < untilMs; i++) {
    await page.mouse.move(700 + 150 * Math.cos(i / 15), 400 + 100 * Math.sin(i / 15));
  }
  await page.mouse.up();
}

/** Counts frames in the page, and what the browser says of its main thread meanwhile. */
async function report(
  name: string,
  page: Page,
  session: CDPSession,
  sender: Sender,
  during?: (page: Page, untilMs: number) => Promise<void>,
): Promise<void> {
  const before = await taken(session);
  const sentBefore = sender.sent();
  const startMs = performance.now();
  const counted = page.evaluate<readonly number[]>(`new Promise((resolve) => {
    const times = [];
    const frame = (at) => {
      times.push(at);
      if (at - times[0] < ${seconds * 1_000}) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  })`);
  await during?.(page, startMs + seconds * 1_000);
  const times = await counted;
  const after = await taken(session);
  const spentMs = performance.now() - startMs;
  const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): string => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)} ms`;
  const busy = (metric: string): string => `${(((after(metric) - before(metric)) * 100_000) / spentMs).toFixed(0)} %`;
  process.stdout.write(
    `${name}\n` +
      `  frames per second   ${((times.length - 1) / (spentMs / 1_000)).toFixed(1)}, median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}\n` +
      `  main thread busy    ${busy('TaskDuration')} of the time, of which scripts ${busy('ScriptDuration')}\n` +
      `  positions sent      ${((sender.sent() - sentBefore) / (spentMs / 1_000)).toFixed(0)} a second\n` +
      `  on the map          ${await page.locator('[data-counts]').innerText()}\n`,
  );
}

async function taken(session: CDPSession): Promise<(metric: string) => number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
}

await main();

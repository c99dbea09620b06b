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
import { reportFrames } from './frames.ts';
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
    const open = async (view: string): Promise<void> => {
      await page.goto(`${new URL(hub.base).origin}/hub-ui/?at=8.6028,50.0518&z=18&${view}`);
      await page.locator('[data-counts]', { hasText: /^[\d,]{3,} trackables/ }).waitFor({ timeout: 60_000 });
      await page.waitForTimeout(3_000);
    };
    await open('layers=trackables,labels,tails,clusters');
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    process.stdout.write(`${objects} trackables at ${rate} Hz, ${seconds} s each, ${cpus()[0]?.model}\n`);
    await report('live map', page, session, sender);
    await page.keyboard.press('+');
    await report('live map while it is dragged', page, session, sender, drag);
    await open('layers=trackables,tails,clusters');
    await report('live map without names', page, session, sender);
    await open('layers=trackables,labels,tails,clusters&labels=all&color=provider_type');
    await report('live map with all names that fit, and colors by type', page, session, sender);
    await page.keyboard.press('+');
    await report('the same while it is dragged', page, session, sender, drag);
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

/** Counts frames in the page, and positions that were sent meanwhile. */
async function report(
  name: string,
  page: Page,
  session: CDPSession,
  sender: Sender,
  during?: (page: Page, untilMs: number) => Promise<void>,
): Promise<void> {
  const sentBefore = sender.sent();
  await reportFrames(page, session, {
    name,
    seconds,
    during,
    more: (spent) => [`positions sent      ${((sender.sent() - sentBefore) / spent).toFixed(0)} a second`],
  });
}

await main();

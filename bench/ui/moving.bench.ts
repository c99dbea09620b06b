/**
 * Thousands of trackables that move on the live map, with alerts of them, in a real browser:
 *
 *     npm run bench:ui -- [objects] [updates a second of each] [seconds]
 *     npm run bench:ui -- --memory 30 [objects] [updates a second of each]
 *
 * Prints frames per second and the busy share of the page's main thread, as counted by the browser. First it measures a page
 * that draws nothing, with the same hub and sender: this is the limit of the machine. With `--memory` it keeps the map open
 * for that many minutes, prints whether memory use stays flat, and exits with 1 if it does not. The hub, the sender and the browser share the machine, and the browser draws without a graphics card.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { reportFrames } from './frames.ts';
import { ensureBuilt, HubChild } from './hub_child.ts';
import { COLLECTING, watchMemory } from './memory.ts';
import { countAlerts, createScene, type Scene, type Sender, startSending } from './scene.ts';

const CHROMIUM = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';
/** Silent trackables. In a memory run, there are nearly 1,000 open alerts with theirs, the most that a hub has. */
const [SILENT, SILENT_IN_MEMORY_RUN] = [20, 720];
const VIEWPORT = { width: 1280, height: 800 };
const ALL_LAYERS = 'layers=trackables,fences,labels,tails,clusters';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { memory: { type: 'string' } }, allowPositionals: true });
  const numbers = positionals.map(Number);
  const minutes = values.memory === undefined ? undefined : Number(values.memory);
  const [objects = minutes === undefined ? 5_000 : 500, rate = minutes === undefined ? 5 : 1, seconds = 10] = numbers;
  const scene = { objects, rate, silent: minutes === undefined ? SILENT : SILENT_IN_MEMORY_RUN };
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'hub-bench-ui-'));
  const hub = await HubChild.start(folder);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', ...(minutes === undefined ? [] : [COLLECTING])],
  });
  let sender: Sender | undefined;
  try {
    await createScene(hub.base, scene);
    sender = startSending(hub.base, scene);
    if (minutes === undefined) await measureFrames({ browser, base: hub.base, sender, scene, seconds });
    else {
      const page = await browser.newPage({ viewport: VIEWPORT });
      await openMap(page, hub.base, ALL_LAYERS);
      say(scene);
      const isFlat = await watchMemory(page, { minutes, more: async () => `${await countAlerts(hub.base)} alerts` });
      process.exitCode = isFlat ? 0 : 1;
    }
  } finally {
    sender?.stop();
    await browser.close();
    await hub.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measured {
  readonly browser: Browser;
  readonly base: string;
  readonly sender: Sender;
  readonly scene: Scene;
  readonly seconds: number;
}

async function measureFrames({ browser, base, sender, scene, seconds }: Measured): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  // Calls into the page wait while it is busy drawing.
  page.setDefaultTimeout(120_000);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const report = (name: string, during?: (page: Page, untilMs: number) => Promise<void>): Promise<void> =>
    reportOf({ name, page, session, sender, seconds, during });
  say(scene);
  await report('a page that draws nothing');
  await openMap(page, base, ALL_LAYERS);
  await report('live map');
  process.stdout.write(`  alerts raised       ${await countAlerts(base)}\n`);
  await page.keyboard.press('+');
  await report('live map while it is dragged', drag);
  await openMap(page, base, ALL_LAYERS.replace('labels,', ''));
  await report('live map without names');
  await openMap(page, base, `${ALL_LAYERS}&labels=all&color=provider_type`);
  await report('live map with all names that fit, and colors by type');
  await page.keyboard.press('+');
  await report('the same while it is dragged', drag);
}

function say({ objects, rate }: Scene): void {
  const load = loadavg().map((each) => each.toFixed(2));
  const machine = `${cpus().length} × ${cpus()[0]?.model}, load ${load.join(' ')}`;
  process.stdout.write(`${objects} trackables at ${rate} Hz, with alert rules, ${machine}\n`);
}

async function openMap(page: Page, base: string, view: string): Promise<void> {
  await page.goto(`${new URL(base).origin}/hub-ui/?at=8.6028,50.0518&z=18&${view}`);
  await page.locator('[data-counts]', { hasText: /^[\d,]{3,} trackables/ }).waitFor();
  await page.waitForTimeout(3_000);
}

async function drag(page: Page, untilMs: number): Promise<void> {
  await page.mouse.move(700, 400);
  await page.mouse.down();
  for (let i = 0; performance.now() < untilMs; i++) {
    await page.mouse.move(700 + 150 * Math.cos(i / 15), 400 + 100 * Math.sin(i / 15));
  }
  await page.mouse.up();
}

/** Counts frames in the page, and positions sent in the same time. */
async function reportOf({
  name,
  page,
  session,
  sender,
  seconds,
  during,
}: {
  readonly name: string;
  readonly page: Page;
  readonly session: CDPSession;
  readonly sender: Sender;
  readonly seconds: number;
  readonly during?: ((page: Page, untilMs: number) => Promise<void>) | undefined;
}): Promise<void> {
  const sentBefore = sender.sent();
  await reportFrames(page, session, {
    name,
    seconds,
    during,
    more: (spent) => [`positions sent      ${((sender.sent() - sentBefore) / spent).toFixed(0)} a second`],
  });
}

await main();

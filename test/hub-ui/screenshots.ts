/**
 * Writes screenshots of every page, in both themes and two widths, of a hub with the demo site in it:
 *
 *     npm run screenshots [-- part of a name]
 *
 * They go to test-output/screenshots.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { ensureBuilt, HubChild } from '../../bench/ui/hub_child.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'test-output', 'screenshots');
const SETTLE_MS = 2_500;
/** Until there is something of a line to see. */
const RATES_MS = 10_000;

const ZONE = '5170a000-0000-4000-8001-000000000002';
const FORKLIFT = '5170a000-0000-4000-8003-000000000029';

/** Views by the names of their files. */
const VIEWS: Readonly<Record<string, string>> = {
  map: '',
  'map-floor': '?floor=1',
  'map-local': `?zone=${ZONE}&floor=1`,
  'map-trackable': `?sel=trackables:${FORKLIFT}&follow=1&layers=trackables,zones,fences,labels,tails,accuracy`,
  'map-far': '?at=8.6007,50.0503&z=16.2',
  events: 'events',
  'events-occupancy': 'events/occupancy',
  operations: 'operations',
  'operations-sources': 'operations/sources',
  'operations-sessions': 'operations/sessions',
  'operations-usage': 'operations/usage',
  'operations-license': 'operations/license',
  zones: 'zones',
  'zones-one': `zones/${ZONE}`,
  anchors: 'anchors',
  'anchors-new': 'anchors/new',
  fences: 'fences',
  'fences-one': 'fences/5170a000-0000-4000-8002-000000000003',
  trackables: 'trackables',
  'trackables-one': `trackables/${FORKLIFT}`,
  providers: 'providers',
  'providers-one': 'providers/demo-tag-29',
  rules: 'rules',
  methods: 'methods',
  lists: 'lists',
  'lists-fences': 'lists/fences?q=dock&sort=-floor',
  'lists-json': `lists?json=${FORKLIFT}`,
  'lists-none': 'lists/anchors',
  nowhere: 'no-such-page',
};

/** The demo site, which moves until the process ends. */
async function startDemo(origin: string): Promise<ChildProcess> {
  const demo = spawn(process.execPath, [join(ROOT, 'src', 'cli', 'cli.ts'), 'demo', '--hub', origin], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  while (!String(await once(demo.stderr as NodeJS.EventEmitter, 'data')).includes('entries')) {
    // It says what it has created before it moves.
  }
  return demo;
}

async function main(part = ''): Promise<void> {
  ensureBuilt();
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'hub-screenshots-'));
  const hub = await HubChild.start(folder);
  const { origin } = new URL(hub.base);
  const executablePath = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  let demo: ChildProcess | undefined;
  const take = async (views: Readonly<Record<string, string>>): Promise<void> => {
    for (const theme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        const viewport = { width, height: width === 390 ? 844 : 800 };
        const page = await browser.newPage({ viewport, colorScheme: theme });
        for (const [name, path] of Object.entries(views).filter(([name]) => name.includes(part))) {
          await page.goto(`${origin}/hub-ui/${path}`);
          await page.waitForTimeout(name === 'operations' ? RATES_MS : SETTLE_MS);
          await page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`) });
        }
        await page.close();
      }
    }
  };
  try {
    await take({ 'map-empty': '' });
    demo = await startDemo(origin);
    await take(VIEWS);
    process.stdout.write(`Written to ${FOLDER}\n`);
  } finally {
    demo?.kill('SIGTERM');
    await browser.close();
    await hub.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(process.argv[2]);

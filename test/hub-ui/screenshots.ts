/**
 * Writes screenshots of every page, in both themes and two widths, of a hub with the demo site in it:
 *
 *     npm run screenshots [-- part of a name]
 *
 * They go to test-output/screenshots.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ensureBuilt, HubChild } from '../../bench/ui/hub_child.ts';
import { demoCrew } from '../../src/cli/demo/crew.ts';
import { demoFences } from '../../src/cli/demo/fences.ts';
import { move } from '../../src/cli/demo/motion.ts';
import { locationOf } from '../../src/cli/demo/observe.ts';
import { demoZones } from '../../src/cli/demo/zones.ts';
import { CATALOGS } from '../../src/hub-ui/languages/catalogs.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { townFile } from './town_map.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'test-output', 'screenshots');
const SETTLE_MS = 2_500;
/** Waits until a part of a trail is visible. */
const RATES_MS = 10_000;

const ZONE = '5170a000-0000-4000-8001-000000000002';
const FENCE = '5170a000-0000-4000-8002-000000000003';
const FORKLIFT = '5170a000-0000-4000-8003-000000000029';

/** A path of the page, and the actions before its screenshot. */
type View = string | { readonly path: string; readonly act: (page: Page, base: string) => Promise<void> };

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();

/** Two users change a fence: one in the page, the other through the API. */
async function conflict(page: Page, base: string): Promise<void> {
  const name = page.getByLabel('Name', { exact: true });
  const before = await name.inputValue();
  await name.fill(`${before}, north`);
  await page.getByLabel('Exit delay', { exact: true }).fill('12');
  const isFirst = !before.endsWith('west');
  const theirs = {
    '/name': isFirst ? `${before}, west` : before.replace(', west', ''),
    '/exit_delay': isFirst ? 6_000 : 4_000,
    '/entry_delay': isFirst ? 2_000 : 3_000,
  };
  const patch = Object.entries(theirs).map(([pointer, value]) => ({ op: 'add', path: pointer, value }));
  await fetch(`${base}/fences/${FENCE}`, { method: 'PATCH', body: JSON.stringify(patch) });
  await page.getByText('Another user has changed').waitFor();
}

/** A draft is written, and the page is reloaded. */
async function leaveUnsaved(page: Page): Promise<void> {
  page.once('dialog', (question) => void question.accept());
  await page.getByLabel('Name', { exact: true }).fill('Cold store, new wing');
  await page.getByLabel('Floor', { exact: true }).fill('1');
  await page.waitForTimeout(500);
  await page.reload();
  await page.getByText('You have unsaved changes').waitFor();
}

async function changeMany(page: Page): Promise<void> {
  await page.getByLabel('Select this page').check();
  await press(page, 'Change');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field', { exact: true }).selectOption('Exit delay');
  await dialog.getByLabel('New value').fill('7');
}

async function copyGrid(page: Page): Promise<void> {
  await press(page, 'Copy');
  await press(page, 'Grid or row');
  await page.getByLabel('Rows', { exact: true }).fill('2');
}

async function drawLasso(page: Page): Promise<void> {
  await press(page, 'Select several');
  const box = await page.locator('[data-map]').boundingBox();
  if (box === null) return;
  const at = (turn: number): readonly [number, number] => [
    box.x + box.width * (0.5 + 0.3 * Math.sin(2 * Math.PI * turn)),
    box.y + box.height * (0.5 - 0.25 * Math.cos(2 * Math.PI * turn)),
  ];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  for (let step = 1; step <= 24; step++) await page.mouse.move(...at(step / 24));
  await page.mouse.up();
  await page.getByRole('region', { name: 'Selected on the map' }).waitFor();
}

/** The objects near the middle of the upper half of the map; with a condition, if one is given. */
function findHere(condition = ''): (page: Page) => Promise<void> {
  return async (page) => {
    await press(page, 'Find here');
    const panel = page.getByRole('complementary', { name: 'Find here' });
    await panel.getByLabel('Within').fill('15');
    await panel.getByLabel('Condition').fill(condition);
    const box = await page.locator('[data-map]').boundingBox();
    if (box === null) return;
    await page.mouse.click(box.x + box.width * 0.6, box.y + box.height * 0.3);
    await panel.getByRole(condition === '' ? 'status' : 'alert').waitFor();
  };
}

/** Views by the names of their files. */
const VIEWS: Readonly<Record<string, View>> = {
  home: 'home',
  map: '',
  'map-floor': '?floor=1',
  'map-local': `?zone=${ZONE}&floor=1`,
  'map-trackable': `?sel=trackables:${FORKLIFT}&follow=1&layers=trackables,zones,fences,labels,tails,accuracy`,
  'map-far': '?at=8.6007,50.0503&z=16.2',
  'map-colors': '?color=property:role',
  'map-colors-far': '?color=property:role&at=8.6007,50.0503&z=16.8',
  'map-names-all': '?labels=all&floor=0',
  'map-find': { path: '?floor=0', act: findHere() },
  'map-find-error': { path: '?floor=0', act: findHere('accuracy < AND floor = 0') },
  'map-filter': {
    path: `?sel=trackables:${FORKLIFT}&layers=trackables,zones,fences,filter&floor=0`,
    act: (page) => press(page, 'Preview other settings'),
  },
  'map-wall': '?wall=1&color=property:role&floor=0',
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
  sinks: 'sinks',
  'sinks-new': 'sinks?new=1',
  links: 'links',
  'links-new': 'links?new=1',
  lists: 'lists',
  'tags-list': {
    path: 'lists/providers?sort=-last_seen',
    act: (page) =>
      page
        .getByText(/^[0-9.]+\/s$/)
        .first()
        .waitFor(),
  },
  'tags-unassigned': 'lists/providers?unassigned=1',
  'tags-assign': 'lists/providers?unassigned=1&assign=spare-tag-1',
  'tags-map': '?layers=trackables,unassigned,zones,fences,plans,labels&floor=0',
  'bulk-change': { path: 'lists/fences', act: changeMany },
  'bulk-floor': { path: 'lists/fences', act: (page) => press(page, 'Copy a floor') },
  'bulk-grid': { path: `fences/5170a000-0000-4000-8002-000000000003`, act: copyGrid },
  'bulk-map': { path: '', act: drawLasso },
  'conflict-fields': { path: `fences/5170a000-0000-4000-8002-000000000003`, act: conflict },
  'conflict-restore': { path: 'fences/5170a000-0000-4000-8002-000000000004', act: leaveUnsaved },
  'lists-fences': 'lists/fences?q=dock&sort=-floor',
  'lists-json': `lists?json=${FORKLIFT}`,
  'lists-none': 'lists/anchors',
  muster: `muster?points=${FENCE}`,
  finder: 'finder?tag=demo-tag-29',
  palette: { path: '', act: (page) => page.keyboard.press('Control+k') },
  reports: 'reports',
  nowhere: 'no-such-page',
};

/** Views of an empty hub. */
const EMPTY_VIEWS = { 'map-empty': '', 'first-steps': 'first-steps', 'map-world': '?at=11,49&z=4.6' };

/** Views of a hub whose map is a file of a town at the halls of the demo, and of one that has lost it. */
const TOWN_VIEWS = { 'map-town': '?at=8.6007,50.0503&z=15.6', 'map-town-near': '' };
const LOST_TOWN_VIEWS = { 'map-town-lost': '?at=8.6014,50.0585&z=4' };
/** Views after alerts were raised. */
const ALERT_VIEWS: Readonly<Record<string, string>> = {
  alerts: 'alerts?show=all',
  'alerts-rules': 'alerts/rules',
  'alerts-builder': 'alerts/rules?rule=new',
  'alerts-map': '?floor=0',
  'wall-numbers': '?wall=1&scenes=numbers',
  'wall-alerts': '?wall=1&scenes=alerts',
};

/** Views in a translation, named after its language. */
async function translatedViews(language: keyof typeof CATALOGS): Promise<Readonly<Record<string, View>>> {
  const { texts } = await CATALOGS[language].first();
  return {
    [`${language}-map`]: `?sel=trackables:${FORKLIFT}&floor=0`,
    [`${language}-events`]: 'events',
    [`${language}-operations`]: 'operations',
    [`${language}-fence`]: `fences/${FENCE}`,
    [`${language}-zone`]: 'zones/new',
    [`${language}-lists`]: 'lists/trackables',
    [`${language}-alerts`]: 'alerts?show=all',
    [`${language}-rule`]: 'alerts/rules?rule=new',
    [`${language}-sink`]: 'sinks?new=1',
    [`${language}-preferences`]: {
      path: 'zones',
      act: async (page) => {
        const button = page.getByRole('button', { name: texts['Language and time'] });
        await ((await button.isVisible())
          ? button
          : page.getByRole('button', { name: texts.More, exact: true })
        ).click();
      },
    },
  };
}

/** Views after user actions on a list page. */
const ACTS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'import-choose': (page) => page.getByRole('button', { name: 'Import' }).click(),
  'import-match': (page) => openFile(page, 'site.geojson'),
  'import-columns': (page) => openFile(page, 'carts.csv'),
  'import-preview': async (page) => {
    await openFile(page, 'site.geojson');
    await page.getByRole('button', { name: 'Compare with the hub' }).click();
  },
  'import-points': async (page) => {
    await openFile(page, 'hall.dxf');
    await page.getByRole('button', { name: 'By two points' }).click();
    const numbers = {
      'x in the drawing': [0, 10],
      'y in the drawing': [0, 0],
      'x in the zone': [60, 70],
      'y in the zone': [10, 10],
    };
    for (const [column, [one, other]] of Object.entries(numbers)) {
      await page.getByLabel(`${column} of point 1`).fill(String(one));
      await page.getByLabel(`${column} of point 2`).fill(String(other));
    }
  },
  export: (page) => page.getByRole('button', { name: 'Export' }).click(),
};
const LISTS = Object.fromEntries(Object.keys(ACTS).map((name) => [name, 'lists/fences']));

async function openFile(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByLabel('File to import').setInputFiles(join(ROOT, 'test', 'hub-ui', 'files', name));
}

/** The shift recorded before the demo starts: its age and its duration. */
const SHIFT_MS = 8 * 3_600_000;
const SHIFT_AGO_MS = 3_600_000;
const SHIFT_STEP_MS = 10_000;

/** Views of the shift at a given time. */
function viewsOfThePast(atMs: number): Readonly<Record<string, View>> {
  const [time, until] = [timeText(atMs), timeText(atMs + SHIFT_MS / 2)];
  const layers = 'layers=trackables,zones,fences,plans,labels,tails';
  return {
    'history-live': '',
    'history-time-bar': `?t=${time}&floor=1`,
    'history-trackable': `?t=${time}&sel=trackables:${FORKLIFT}&${layers}`,
    'history-fence': `?t=${time}&sel=fences:${FENCE}&${layers}`,
    'history-heat': `?t=${time}&floor=0&${layers.replace('labels,tails', 'heat')}`,
    'history-nothing': '?t=2020-01-01T12:00:00Z',
    'history-flows': `flows?until=${until}&span=21600`,
    'history-flows-nothing': 'flows?until=2020-01-01T12:00:00Z',
  };
}

function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** Simulates a shift of the demo crew. Returns its middle time. */
async function recordShift(base: string): Promise<number> {
  const send = async (method: string, path: string, body: unknown): Promise<void> => {
    const { ok, status } = await fetch(`${base}${path}`, { method, body: JSON.stringify(body) });
    if (!ok) throw new Error(`Cannot record: ${path} was answered with ${status}`);
  };
  let crew = demoCrew(1);
  for (const zone of demoZones()) await send('POST', '/zones', zone);
  // Delays and timeouts use the clock of the hub, not the time of the shift.
  for (const { exit_delay: _, entry_delay: __, timeout: ___, ...fence } of demoFences()) {
    await send('POST', '/fences', fence);
  }
  for (const { trackable } of crew) await send('POST', '/trackables', trackable);
  const endMs = Date.now() - SHIFT_AGO_MS;
  for (let atMs = endMs - SHIFT_MS; atMs < endMs; atMs += SHIFT_STEP_MS) {
    crew = crew.map((member) => ({ ...member, mover: move(member.mover, 1) }));
    const locations = crew.flatMap((member) => locationOf(member, atMs) ?? []);
    await send('PUT', '/providers/locations', locations);
  }
  return endMs - SHIFT_MS / 2;
}

/** Locating rules, one of which is too complex for the builder. */
async function ruleDemo(base: string): Promise<void> {
  const expressions = ["type = 'rfid'", "type = 'uwb' AND accuracy < 1", 'NOT (accuracy > 5 OR speed > 10)'];
  const rules = expressions.map((expression, priority) => ({ expression, priority }));
  await fetch(`${base}/trackables/rules/locating`, { method: 'PUT', body: JSON.stringify(rules) });
}

/** Alert rules that the demo triggers repeatedly. */
async function alertOfDemo(base: string): Promise<void> {
  for (const rule of [
    { name: 'The dock is in use', kind: 'entry', fence_ids: [FENCE], severity: 'info' },
    { name: 'Standing for too long', kind: 'inside_longer', longer_than: 15_000, severity: 'warning' },
    { name: 'Crowded', kind: 'more_inside', more_than: 5, severity: 'critical' },
    { name: 'Forklift 29', kind: 'collision', trackable_ids: [FORKLIFT], severity: 'critical' },
    { name: 'No sign of life', kind: 'silent', longer_than: 600_000, severity: 'warning', enabled: false },
  ]) {
    await fetch(`${base}/alerts/rules`, { method: 'POST', body: JSON.stringify(rule) });
  }
}

/** Sinks and links, some of which do not work. */
async function connectOthers(base: string): Promise<void> {
  const topics = ['fence_events', 'alert_changes'];
  for (const [path, body] of [
    ['/sinks', { name: 'Data lake', type: 'webhook', url: 'https://lake.example.com/rtls', topics }],
    ['/sinks', { name: 'Message bus', type: 'nats', url: 'nats://bus.example.com:4222/rtls.events', topics }],
    ['/links', { name: 'Plant 2', url: 'http://hub.plant-2.example:8081/v2', entities: 'mirror' }],
    ['/links', { name: 'Old plant', url: 'http://hub.plant-1.example:8081/v2', enabled: false }],
  ] as const) {
    await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) });
  }
}

/** Unassigned tags, some of which have been silent for a while. */
async function leaveSpareTags(base: string): Promise<void> {
  const locations = [0, 40, 400, 4_000, 90_000].map((silentSeconds, i) => ({
    provider_id: `spare-tag-${i + 1}`,
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    floor: 0,
    position: { type: 'Point', coordinates: [8.6003 + i * 0.0002, 50.0503 + (i % 2) * 0.0001] },
    timestamp_generated: new Date(Date.now() - silentSeconds * 1_000).toISOString(),
    properties: { battery_percent: 91 - 17 * i },
  }));
  const answer = await fetch(`${base}/providers/locations`, { method: 'PUT', body: JSON.stringify(locations) });
  if (!answer.ok) throw new Error(`Cannot leave spare tags: ${await answer.text()}`);
}

/** The demo site, which moves until the process exits. */
async function startDemo(origin: string): Promise<ChildProcess> {
  const demo = spawn(process.execPath, [join(ROOT, 'src', 'cli', 'cli.ts'), 'demo', '--hub', origin], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  while (!String(await once(demo.stderr as NodeJS.EventEmitter, 'data')).includes('entries')) {
    // It reports the created entities before it sends locations.
  }
  return demo;
}

/** The page opened from its cached shell while no hub responds. */
async function takeAlone(browser: Browser, origin: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      const viewport = { width, height: width === 390 ? 844 : 800 };
      const page = await browser.newPage({ viewport, colorScheme: theme });
      await page.goto(`${origin}/hub-ui/`);
      await page.evaluate('navigator.serviceWorker.ready');
      await page.context().setOffline(true);
      await page.goto(`${origin}/hub-ui/`);
      await page.getByText('The hub cannot be reached.').waitFor();
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(FOLDER, `alone-${theme}-${width}.png`) });
      await page.close();
    }
  }
}

/** A separate hub, as all its pages show the town map. */
async function takeTown(take: (views: Readonly<Record<string, string>>, from: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const file = join(folder, 'town.pmtiles');
  writeFileSync(file, townFile());
  const hub = await HubChild.start(folder, { HUB_MAP_TILE_URL: 'town.pmtiles' });
  try {
    for (const zone of demoZones()) await fetch(`${hub.base}/zones`, { method: 'POST', body: JSON.stringify(zone) });
    await take(TOWN_VIEWS, new URL(hub.base).origin);
    rmSync(file);
    await take(LOST_TOWN_VIEWS, new URL(hub.base).origin);
  } finally {
    await hub.stop();
  }
}

async function main(part = ''): Promise<void> {
  ensureBuilt();
  mkdirSync(FOLDER, { recursive: true });
  const folder = temporaryFolder();
  const hub = await HubChild.start(folder, { HUB_HISTORY: 'true' });
  const { origin } = new URL(hub.base);
  const executablePath = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  let demo: ChildProcess | undefined;
  const take = async (views: Readonly<Record<string, View>>, from = origin, locale = 'en-US'): Promise<void> => {
    for (const theme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        const viewport = { width, height: width === 390 ? 844 : 800 };
        const page = await browser.newPage({ viewport, colorScheme: theme, locale });
        for (const [name, view] of Object.entries(views).filter(([name]) => name.includes(part))) {
          await page.goto(`${from}/hub-ui/${typeof view === 'string' ? view : view.path}`);
          await ACTS[name]?.(page);
          await page.waitForTimeout(name === 'operations' ? RATES_MS : SETTLE_MS);
          if (typeof view !== 'string') await view.act(page, hub.base);
          await page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`) });
        }
        await page.close();
      }
    }
  };
  try {
    await take(EMPTY_VIEWS);
    await takeTown(take);
    if ('alone'.includes(part)) await takeAlone(browser, origin);
    await fetch(`${hub.base}/demo`, { method: 'POST' });
    await take({ 'map-demo': '' });
    await fetch(`${hub.base}/demo`, { method: 'DELETE' });
    const shiftMs = await recordShift(hub.base);
    demo = await startDemo(origin);
    await ruleDemo(hub.base);
    await leaveSpareTags(hub.base);
    await connectOthers(hub.base);
    await take({ ...VIEWS, ...LISTS });
    await alertOfDemo(hub.base);
    await take(ALERT_VIEWS);
    for (const language of Object.keys(CATALOGS) as (keyof typeof CATALOGS)[]) {
      await take(await translatedViews(language), origin, language);
    }
    await take(viewsOfThePast(shiftMs));
    process.stdout.write(`Written to ${FOLDER}\n`);
  } finally {
    demo?.kill('SIGTERM');
    await browser.close();
    await hub.stop();
  }
}

await main(process.argv[2]);

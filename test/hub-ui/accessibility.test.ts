import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { CATALOGS } from '../../src/hub-ui/languages/catalogs.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { at, GATE, openRecordedHub } from './history_site.ts';
import { openSignedSite } from './signed_site.ts';
import { CELLAR, createSite, DOCK, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

interface View {
  readonly path: string;
  /** A text that appears once the page has loaded: a key of the catalog, or text built from its keys. */
  readonly seen: string | ((say: Say) => RegExp);
  /** Actions to run on the page before axe checks it. */
  readonly act?: Act;
}

/** Returns a text in the language of the page, with its placeholders filled. */
type Say = (text: string, values?: Readonly<Record<string, string>>) => string;
type Act = (page: Page, say: Say) => Promise<void>;

const inEnglish: Say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** Returns texts as the page does in a language: see `t`. */
async function sayIn(language: keyof typeof CATALOGS): Promise<Say> {
  const [{ texts, genders }, { pageTexts }] = await Promise.all([
    CATALOGS[language].first(),
    CATALOGS[language].pages(),
  ]);
  const all: Readonly<Record<string, string>> = { ...texts, ...pageTexts };
  const formed: Say = (text, values = {}) =>
    text.replace(/\{(\w+)((?:\|[^|}]+)+)\}/g, (_, name: string, forms: string) => {
      const [, ...each] = forms.split('|');
      return each[((genders as Readonly<Record<string, number>>)[values[name] ?? ''] ?? 0) % each.length] ?? '';
    });
  return (text, values) => inEnglish(formed(all[text] ?? text, values), values);
}

const click =
  (name: string): Act =>
  (page, say) =>
    page
      .getByRole('button', { name: say(name), exact: true })
      .first()
      .click();

const createText = (say: Say, kind: string): string => say('Create {kind}', { kind: say(kind) });
const createOne = (kind: string) => (say: Say) => new RegExp(createText(say, kind));
const create =
  (kind: string): Act =>
  (page, say) =>
    click(createText(say, kind))(page, say);

const oneTrackable = (say: Say): RegExp => new RegExp(`^${say('{count} trackable', { count: '1' })}`);

const VIEWS: readonly View[] = [
  { path: '', seen: oneTrackable },
  { path: '', seen: oneTrackable, act: click('Layers') },
  { path: `?zone=${HALL.id}`, seen: oneTrackable, act: (page, say) => page.getByText(say('Legend')).click() },
  {
    path: `?sel=trackables:${FORKLIFT.id}`,
    seen: (say) => new RegExp(say('{ago}, at {time}', { ago: '', time: '\\d' })),
  },
  {
    path: `?sel=trackables:${FORKLIFT.id}&follow=1`,
    seen: (say) => new RegExp(say('Following {name}', { name: 'Forklift 7' })),
  },
  { path: '?color=property:driver', seen: oneTrackable },
  { path: '?wall=1&color=type', seen: 'Trackables in fences' },
  { path: `?sel=fences:${DOCK.id}`, seen: 'Providers inside' },
  { path: 'first-steps', seen: 'Send a position' },
  { path: 'home', seen: 'Busiest fence' },
  { path: 'alerts', seen: 'No open alerts' },
  { path: 'alerts/rules', seen: 'No rules yet', act: click('New rule') },
  { path: 'events', seen: 'Nothing has happened yet' },
  { path: 'events/occupancy', seen: (say) => new RegExp(`^1 ${say('inside')}`) },
  { path: 'operations', seen: 'Uptime' },
  // A source is quiet once its last location is old, which depends on the speed of this machine.
  { path: 'operations/sources', seen: (say) => new RegExp(`^(${say('Active')}|${say('Quiet')})$`) },
  { path: 'operations/sessions', seen: 'location_updates' },
  { path: 'operations/usage', seen: 'Configured' },
  { path: 'operations/license', seen: 'License key' },
  { path: 'keys', seen: 'No API keys yet', act: click('New API key') },
  { path: 'audit', seen: 'Difference' },
  { path: 'methods', seen: 'com.omlox.ping' },
  { path: 'zones', seen: 'Hall' },
  { path: `zones/${HALL.id}`, seen: 'No changes to save' },
  { path: 'zones/new', seen: createOne('zone'), act: create('zone') },
  { path: 'anchors', seen: 'Post' },
  { path: 'anchors/a1', seen: 'No changes to save' },
  { path: 'fences', seen: 'Dock A' },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save' },
  { path: 'fences/new', seen: createOne('fence'), act: create('fence') },
  { path: 'trackables', seen: 'Forklift 7' },
  { path: `trackables/${FORKLIFT.id}`, seen: 'No changes to save' },
  { path: 'providers', seen: 'tag-1' },
  { path: 'providers/tag-1', seen: 'No changes to save' },
  { path: 'rules', seen: 'No rules: the newest location counts', act: click('Add rule') },
  { path: 'lists', seen: 'Forklift 7' },
  { path: 'lists/fences', seen: 'Dock A', act: askToDelete },
  {
    path: 'lists/fences?q=nowhere',
    seen: (say) => new RegExp(say('No {kind} match the search', { kind: say('fences') })),
  },
  { path: `lists/trackables?json=${FORKLIFT.id}`, seen: 'Edit as JSON' },
  { path: 'lists', seen: 'Forklift 7', act: click('Export') },
  { path: 'lists', seen: 'Forklift 7', act: click('Import') },
  {
    path: 'lists/providers?unassigned=1',
    seen: 'spare-tag',
    act: (page, say) => click(say('Assign {name}', { name: 'spare-tag' }))(page, say),
  },
  { path: 'lists/fences', seen: 'Dock A', act: changeMany },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save', act: copyGrid },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save', act: conflict },
  { path: `fences/${CELLAR.id}`, seen: 'No changes to save', act: leaveUnsaved },
  { path: '', seen: oneTrackable, act: chooseAll },
  { path: 'sinks', seen: 'Lake' },
  { path: 'sinks?new=1', seen: 'New sink', act: openMore },
  { path: 'sources', seen: 'No data sources yet' },
  { path: 'sources?new=1', seen: 'New source' },
  { path: 'links', seen: 'Plant 2' },
  { path: 'links?new=1', seen: 'New link', act: openMore },
  { path: 'muster', seen: 'Missing' },
  { path: 'finder?tag=tag-1', seen: (say) => new RegExp(say('Assigned to {name}', { name: 'Forklift 7' })) },
  { path: 'no-such-page', seen: 'There is no such page' },
];

async function openMore(page: Page, say: Say): Promise<void> {
  await page.getByRole('dialog').getByText(say('More'), { exact: true }).click();
}

/** A sink whose target rejects all events, and a link without an answer: the pages of both show errors. */
async function openExchange(hub: TestHub): Promise<readonly View[]> {
  const sink = { name: 'Lake', type: 'webhook', url: 'http://127.0.0.1:1/', topics: ['fence_events'] };
  const { id: sinkId } = (await hub.post('/sinks', sink)).body;
  const { id: linkId } = (await hub.post('/links', { name: 'Plant 2', url: 'http://127.0.0.1:1/v2' })).body;
  return [
    { path: `sinks/${sinkId}`, seen: 'Failing' },
    { path: `sinks/${sinkId}?replay=now`, seen: 'Deliver events again' },
    { path: `links/${linkId}`, seen: 'Down' },
  ];
}

async function askToDelete(page: Page, say: Say): Promise<void> {
  await page.getByLabel(say('Select {name}', { name: DOCK.name })).check();
  await click('Delete')(page, say);
  await page.getByRole('dialog').waitFor();
}

async function changeMany(page: Page, say: Say): Promise<void> {
  await page.getByLabel(say('Select this page')).check();
  await click('Change')(page, say);
  await page.getByLabel(say('New value')).fill('3');
  const changed = { changed: '\\d', total: '\\d', kind: say('fences') };
  await page.getByText(new RegExp(`^${say('{changed} of {total} {kind} change', changed)}$`)).waitFor();
}

async function copyGrid(page: Page, say: Say): Promise<void> {
  await click('Copy')(page, say);
  await click('Grid or row')(page, say);
  await page.getByRole('list', { name: say('Copies to create') }).waitFor();
}

async function conflict(page: Page, say: Say): Promise<void> {
  await page.getByLabel(say('Name'), { exact: true }).fill('Dock B');
  const data = [{ op: 'add', path: '/name', value: 'Dock C' }];
  await page.request.patch(`${new URL(page.url()).origin}/v2/fences/${DOCK.id}`, { data });
  await page.getByRole('radio', { name: say('{label}: {text}', { label: say('theirs'), text: 'Dock C' }) }).waitFor();
}

async function leaveUnsaved(page: Page, say: Say): Promise<void> {
  page.once('dialog', (question) => void question.accept());
  await page.getByLabel(say('Name'), { exact: true }).fill('Cellar B');
  await page.reload();
  const left = say('You have unsaved changes, made {ago}.', { ago: '' });
  await page.getByText(left.slice(0, left.search(/[,(]/))).waitFor();
}

async function chooseAll(page: Page, say: Say): Promise<void> {
  await click('Select several')(page, say);
  await click('Rectangle')(page, say);
  const box = await page.locator('[data-map]').boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + 0.02 * box.width, box.y + 0.25 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.9 * box.width, box.y + 0.9 * box.height, { steps: 3 });
  await page.mouse.up();
  await page.getByRole('region', { name: say('Selected on the map') }).waitFor();
}

// Each theme, width and language once: colors depend only on the theme. Translations need more room. Two of the languages share
// the pages, because their texts are about as long.
for (const { theme, width, locale, say, isSeen = () => true } of [
  { theme: 'light', width: 1_280, locale: 'en-US', say: inEnglish },
  { theme: 'dark', width: 390, locale: 'en-US', say: inEnglish },
  { theme: 'light', width: 390, locale: 'de-DE', say: await sayIn('de') },
  { theme: 'light', width: 390, locale: 'fr-FR', say: await sayIn('fr'), isSeen: (page: number) => page % 2 === 0 },
  { theme: 'light', width: 390, locale: 'es-ES', say: await sayIn('es'), isSeen: (page: number) => page % 2 === 1 },
] as const) {
  test(`axe finds no violation on any page, ${width} pixels wide, in the ${theme} theme, for ${locale}`, {
    skip,
  }, async (t) => {
    const hub = await openUiHub(t, { sink_allowed_hosts: ['127.0.0.1'] });
    await createSite(hub);
    const exchange = await openExchange(hub);
    const local_position = { type: 'Point', coordinates: [1, 2, 3] };
    await hub.post('/anchors', { id: 'a1', name: 'Post', zone_id: HALL.id, local_position });
    await move(hub, 'tag-1', [20, 20]);
    await hub.post('/providers', { id: 'spare-tag', type: 'uwb' });
    // The browser logs responses with an error status to the console.
    const page = await openPage(t, 'about:blank', { theme, width, locale, mayFail: true });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const found: string[] = [];
    const views = [...VIEWS, ...exchange].filter((_, number) => isSeen(number));
    for (const { path, seen, act } of views) {
      await page.goto(`${hub.origin}/hub-ui/${path}`);
      const text = typeof seen === 'string' ? say(seen) : seen(say);
      await page.getByText(text).filter({ visible: true }).first().waitFor();
      await act?.(page, say);
      found.push(...(await violationsIn(page)).map((violation) => `/${path}: ${violation}`));
      // Only parts of the page scroll.
      const below = await page.evaluate('document.documentElement.scrollHeight - innerHeight');
      if (below !== 0) found.push(`/${path}: the page is ${below} pixels higher than the window`);
    }
    assert.deepEqual(found, []);
  });
}

test('axe finds no violation on a map whose tiles are unavailable', { skip }, async (t) => {
  const hub = await openUiHub(t, { map_tile_url: 'nowhere.pmtiles' });
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true, theme: 'dark', width: 390 });
  await page.getByText('There are no map tiles.').waitFor();
  assert.deepEqual(await violationsIn(page), []);
});

test('axe finds no violation on the sign-in page', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await violationsIn(page), []);
});

test('History views meet accessibility rules and fit on a phone', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const views = [
    [`?t=${at(60)}&sel=trackables:${FORKLIFT.id}`, /Dock A/],
    [`?t=${at(1_500)}&sel=fences:${GATE.id}&layers=trackables,fences,heat,zones`, /Median stay/],
    [`flows?until=${at(3_600)}`, /From fence to fence/],
  ] as const;
  for (const [theme, width] of [['light', 1280] as const, ['dark', 1280] as const, ['light', 390] as const]) {
    const page = await openPage(t, `${hub.origin}/hub-ui/`, { theme, width });
    for (const [path, text] of views) {
      await page.goto(`${hub.origin}/hub-ui/${path}`);
      await page.getByText(text).first().waitFor();
      assert.deepEqual(await violationsIn(page), [], `${path} ${theme} ${width}`);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.equal(await page.evaluate(overflow), 0, path);
    }
    await page.close();
  }
});

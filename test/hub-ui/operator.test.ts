import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batteryText } from '../../src/hub-ui/hub/battery.ts';
import { densityOf } from '../../src/hub-ui/map/objects/density.ts';
import { openPage, openUiHub, PIXELS_OF, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openLine } from '../support/line.ts';
import { TestMap } from './setup_map.ts';
import { createSite, DOCK, earth, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

for (const [what, properties, expected] of [
  ['a location', [{ battery: 3.1 }], '3.1'],
  ['an ISO 24730 stream', [{ iso24730: { source: 'x', battery: 0 } }], '0'],
  ['a vendor in percent', [undefined, { battery_percent: 80 }], '80 %'],
  [
    'a vendor in several numbers',
    [{ batteryInfo: { percentRemaining: 55, daysRemaining: 9 } }],
    'percentRemaining 55, daysRemaining 9',
  ],
  ['nobody', [null, { driver: 'Kim' }], undefined],
] as const) {
  test(`batteryText finds the battery level of ${what}`, () => assert.equal(batteryText(...properties), expected));
}

test('The panel of an object shows its id, battery, properties and last-seen time', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20], { properties: { battery: '71 %' } });
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=trackables:${FORKLIFT.id}`, { mayFail: true });
  const panel = page.getByRole('complementary', { name: 'Selected trackable' });
  await panel.getByText('In Dock A · battery 71 %').waitFor();
  assert.equal(await panel.getByText(FORKLIFT.id).isVisible(), false);
  await panel.getByText('Technical').click();
  await panel.locator('dd').getByText(FORKLIFT.id).waitFor();
  await panel.getByText('71 %').first().waitFor();
  await panel.getByText('Kim').waitFor();
  await panel.getByText(/(just now|ago), at \d/).waitFor();
  await panel.getByRole('button', { name: 'tag-1' }).click();
  const tag = page.getByRole('complementary', { name: 'Selected provider' });
  await tag.getByText('Belongs to').waitFor();
  await tag.getByRole('button', { name: 'Forklift 7' }).waitFor();

  await hub.post('/providers', { id: 'silent', type: 'uwb', properties: { shelf: 'B4' } });
  await page.goto(`${hub.origin}/hub-ui/?sel=providers:silent`);
  await tag.getByText('No position yet', { exact: true }).waitFor();
  await tag.getByText('B4').waitFor();
});

test('The card of an object says where it is and since when, with its actions in view on a phone', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t, { history: true, history_flush_interval: 600_000 });
  await createSite(hub);
  // Nearly a minute for the page to open. A page that takes longer than 15 s adds that the object is silent.
  const atMs = Date.now() - 4.05 * 60_000;
  const entry = { timestamp_generated: new Date(atMs).toISOString() };
  await move(hub, 'tag-1', [5, 5], { timestamp_generated: new Date(atMs - 1_000).toISOString() });
  await move(hub, 'tag-1', [20, 20], entry);
  await move(hub, 'tag-1', [20, 21], {
    timestamp_generated: new Date().toISOString(),
    properties: { battery_percent: 82 },
  });
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=trackables:${FORKLIFT.id}`, { width: 390 });
  const panel = page.getByRole('complementary', { name: 'Selected trackable' });
  await panel.getByText(/^In Dock A for 4 min · (silent for \d+ s · )?battery 82 %$/).waitFor();
  const cut = await panel.locator('[data-status]').evaluate((line) => {
    return (line.parentElement?.getBoundingClientRect().top ?? 0) - line.getBoundingClientRect().top;
  });
  assert.ok(cut <= 0, `the line is cut by ${cut} pixels`);
  const box = (await panel.boundingBox()) ?? assert.fail('The panel has no size');
  for (const name of ['Follow', 'Go to', 'Edit']) {
    const button = (await panel.getByText(name, { exact: true }).boundingBox()) ?? assert.fail(`${name} has no size`);
    assert.ok(button.y + button.height <= box.y + box.height, `${name} is below the fold`);
  }
  await move(hub, 'tag-1', [60, 20]);
  await panel.getByText(/^In no fence/).waitFor();
});

test('The occupancy of a fence is the same in all views', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  for (const tag of ['tag-1', 'tag-2', 'tag-3']) await move(hub, tag, [20, 20]);
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=fences:${DOCK.id}`);
  const panel = page.getByRole('complementary', { name: 'Selected fence' });
  const inside = (kind: string) => panel.locator(`dt:text-is("${kind} inside") + dd strong`);
  await untilHolds(page, async () => (await inside('Providers').textContent()) === '3');
  assert.equal(await inside('Trackables').textContent(), '1');
  for (const [of, count] of [
    ['trackables', '1'],
    ['providers', '3'],
  ] as const) {
    await page.goto(`${hub.origin}/hub-ui/events/occupancy?of=${of}`);
    await page.getByRole('listitem').filter({ hasText: 'Dock A' }).getByText(`${count} inside`).waitFor();
  }
});

test('Counts and positions have one format', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const tags = Array.from({ length: 1_200 }, (_, i) => ({ id: `tag-${i}`, type: 'uwb' }));
  for (const tag of tags.slice(0, 30)) await hub.post('/providers', tag);
  await hub.put(
    '/providers/locations',
    tags.map(({ id }) => ({
      provider_id: id,
      provider_type: 'uwb',
      source: 'hall',
      crs: 'local',
      position: { type: 'Point', coordinates: [20, 20] },
    })),
  );
  const page = await openPage(t, `${hub.origin}/hub-ui/?layers=providers,fences&sel=providers:tag-7`);
  await page.locator('[data-counts]', { hasText: '1,200 providers' }).waitFor();
  const panel = page.getByRole('complementary', { name: 'Selected provider' });
  await panel.getByText('Technical').click();
  await panel.getByText(/^8\.\d{7}°, 50\.\d{7}°$/).waitFor();
  await page.goto(`${hub.origin}/hub-ui/lists/providers`);
  await page.getByRole('tab', { name: 'providers 1,200' }).waitFor();
  await page.getByText('of 1,200').first().waitFor();
  await page.goto(`${hub.origin}/hub-ui/events/occupancy?of=providers`);
  await page.getByText('1,200 inside').waitFor();
});

test('Text that is neither a position nor a name on the map is rejected with the reason', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  const field = page.getByRole('textbox', { name: 'Go to a position or place' });
  for (const [text, sentence] of [
    ['Nowhere Hall', '“Nowhere Hall” is neither a position nor a name on the map.'],
    ['500, 100', 'The longitude must be from −180 to 180; it is 500.'],
    ['88, 89', 'The latitude must be from −85 to 85; it is 89.'],
    ['8.68', 'This is one number.'],
  ] as const) {
    await field.fill(text);
    await field.press('Enter');
    await page.getByRole('alert').filter({ hasText: sentence }).waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true', text);
  }
  await field.fill('8.68°, 50.11°');
  await field.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'one number' }).waitFor({ state: 'detached' });
  await untilHolds(page, async () => (await field.getAttribute('aria-invalid')) === 'false');
});

test('The map goes to a position in either order and with decimal commas, to a fence and to a city by name', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  const map = new TestMap(page, 'Map of the zone');
  const field = page.getByRole('textbox', { name: 'Go to a position or place' });
  const isAt = async ([x, y]: readonly number[], within: number): Promise<boolean> => {
    const [atX, atY] = await map.middle();
    return Math.abs(atX - (x ?? 0)) < within && Math.abs(atY - (y ?? 0)) < within;
  };
  const go = async (text: string): Promise<void> => {
    await field.fill(text);
    await field.press('Enter');
  };
  await go('50.11, 8.68');
  await page.getByRole('status').getByText('Longitude 50.11°, latitude 8.68°').waitFor();
  await page.getByRole('button', { name: 'Swap' }).click();
  await page.getByRole('status').getByText('Longitude 8.68°, latitude 50.11°').waitFor();
  await untilHolds(page, () => isAt([8.68, 50.11], 1e-5));
  await go(`52° 31' 12" N, 13° 24' 18" E`);
  await untilHolds(page, () => isAt([13.405, 52.52], 1e-5));
  await go('8,6844; 50,1133');
  await untilHolds(page, () => isAt([8.6844, 50.1133], 1e-5));
  await go('50,1122 8,6833');
  await page.getByRole('button', { name: 'Swap' }).click();
  await untilHolds(page, () => isAt([8.6833, 50.1122], 1e-5));
  await go('dock a');
  await untilHolds(page, () => isAt(earth(20, 20), 1e-4));
  await go('Nairobi');
  await untilHolds(page, () => isAt([36.82, -1.29], 0.1));
});

test('Of two moves of the map in quick succession the last one determines the view, also with slow frames', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  const map = new TestMap(page, 'Map of the zone');
  await map.middle();
  await page.getByRole('textbox', { name: 'Go to a position or place' }).fill('50.11, 8.68');
  await page.evaluate(async () => {
    const frame = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (drawn) => Number(setTimeout(() => frame(drawn), 300));
    globalThis.cancelAnimationFrame = clearTimeout;
    const form = document.querySelector<HTMLFormElement>('form:has([aria-label="Go to a position or place"])');
    form?.requestSubmit();
    await Promise.resolve();
    form?.querySelector('button')?.click();
  });
  await page.getByRole('status').getByText('Longitude 8.68°, latitude 50.11°').waitFor();
  await untilHolds(page, async () => {
    const [x, y] = await map.middle();
    return Math.abs(x - 8.68) < 1e-5 && Math.abs(y - 50.11) < 1e-5;
  });
});

test('A lost connection is shown across the page until it is restored', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const line = await openLine(t, Number(new URL(hub.origin).port));
  const page = await openPage(t, `http://127.0.0.1:${line.port}/hub-ui/lists`, { mayFail: true });
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  const port = line.target;
  line.target = undefined;
  line.cut();
  const banner = page.getByRole('alert').filter({ hasText: 'The hub cannot be reached.' });
  await banner.getByText(/What you see is \d+ s old/).waitFor();
  const [box, main] = [await banner.boundingBox(), await page.getByRole('main').boundingBox()];
  assert.ok(box !== null && main !== null && box.width >= main.width && box.height > 40, JSON.stringify([box, main]));
  line.target = port;
  const connected = page.getByRole('button', { name: 'Connected' }).first();
  // The page may reconnect before the click, which removes the button.
  await Promise.race([banner.getByRole('button', { name: 'Try now' }).click(), connected.waitFor()]);
  await connected.waitFor();
  await banner.waitFor({ state: 'hidden' });
});

for (const [what, count, { before, isFar }, expected] of [
  ['few', 30, { before: 'single', isFar: false }, 'single'],
  ['few, from far away', 30, { before: 'single', isFar: true }, 'clusters'],
  ['many', 1_000, { before: 'single', isFar: false }, 'small'],
  ['a crowd', 3_000, { before: 'single', isFar: false }, 'clusters'],
  ['fewer than a crowd, drawn as one', 1_800, { before: 'clusters', isFar: false }, 'clusters'],
  ['as many that were none', 1_800, { before: 'small', isFar: false }, 'small'],
] as const) {
  test(`densityOf shows ${what} as ${expected}`, () => {
    // A hundred cells of the screen.
    const at = (i: number): [number, number] => [(i % 10) * 52 + 9, (Math.floor(i / 10) % 10) * 52 + 9];
    const all = Array.from({ length: count }, (_, i) => at(i));
    const spread = {
      x: all.map(([x]) => x),
      y: all.map(([, y]) => y),
      indices: Uint32Array.from(all.keys()),
      drawn: count,
    };
    assert.equal(densityOf(spread, { before, isFar }), expected);
  });
}

test('Ten thousand objects leave the fences visible, and a legend explains the colors', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const locationOf = (i: number) => ({
    provider_id: `tag-${i}`,
    provider_type: 'uwb',
    source: 'hall',
    crs: 'local',
    position: { type: 'Point', coordinates: [i % 100, (Math.floor(i / 100) * 60) / 100] },
  });
  for (let i = 0; i < 10_000; i += 1_000) {
    await hub.put(
      '/providers/locations',
      Array.from({ length: 1_000 }, (_, k) => locationOf(i + k)),
    );
  }
  const page = await openPage(t, `${hub.origin}/hub-ui/?layers=providers,fences,zones,clusters`);
  await page.locator('[data-counts]', { hasText: '10,000 providers' }).waitFor();
  const covered = async (): Promise<number> => {
    // Objects are drawn on the uppermost canvas. The code is a string because it runs in the browser.
    return page.evaluate(`(() => {
        const canvas = [...document.querySelectorAll('[data-map] canvas')].at(-1);
        const { width, height } = canvas;
        const data = ${PIXELS_OF}(canvas, width * 0.42, height * 0.15, Math.floor(width * 0.16), Math.floor(height * 0.7));
        let inked = 0;
        for (let i = 3; i < data.length; i += 4) if (data[i] > 40) inked++;
        return inked / (data.length / 4);
      })()`);
  };
  await untilHolds(page, async () => (await covered()) > 0.05);
  assert.ok((await covered()) < 0.4, `the objects cover ${await covered()} of the hall`);
  await page.getByText('Legend').click();
  for (const meaning of ['Green edge: recent entry', 'Gray edge: recent exit', 'Red ring']) {
    await page.getByText(meaning).waitFor();
  }
});

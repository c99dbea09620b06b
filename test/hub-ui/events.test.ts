import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { CELLAR, createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

function log(page: Page) {
  return page.getByRole('list', { name: 'Events' }).getByRole('listitem');
}

/** Resolves when the log has this number of lines with this text. */
async function untilLines(page: Page, text: string | RegExp, count: number): Promise<void> {
  await untilHolds(page, async () => (await log(page).filter({ hasText: text }).count()) === count);
}

test('The event log is live, can be filtered and paused, and links to the map', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', { type: 'omlox', name: 'Cart', location_providers: ['tag-2'], radius: 1 });
  const page = await openPage(t, `${hub.origin}/hub-ui/events`);
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  await page.getByText('Nothing has happened yet').waitFor();

  await move(hub, 'tag-1', [20, 20]);
  await untilLines(page, 'Forklift 7 entered Dock A', 1);
  await untilLines(page, 'tag-1 was created', 1);
  await untilLines(page, 'tag-1 entered', 0);
  await page.getByRole('button', { name: 'Providers' }).click();
  await untilLines(page, 'tag-1 entered Dock A', 1);
  await page.getByRole('button', { name: 'Providers' }).click();
  await untilLines(page, 'tag-1 entered', 0);
  await move(hub, 'tag-2', [20.5, 20]);
  await untilLines(page, /Cart and Forklift 7 touch|Forklift 7 and Cart touch/, 1);
  await move(hub, 'tag-1', [60, 20]);
  await untilLines(page, 'Forklift 7 left Dock A', 1);
  await untilLines(page, /came apart after/, 1);
  for (const name of ['Hoist', 'Crane']) await hub.put(`/trackables/${FORKLIFT.id}`, { ...FORKLIFT, name });
  await untilLines(page, 'Crane was changed 2 times', 1);
  await untilLines(page, 'Crane left Dock A', 1);

  await page.getByRole('button', { name: 'Changes' }).click();
  await untilLines(page, 'was changed', 0);
  await page.getByRole('searchbox', { name: 'Search events' }).fill('crane dock');
  await untilHolds(page, async () => (await log(page).count()) === 2);
  await page.waitForURL(/show=entries,exits,collisions/);
  await page.getByRole('searchbox', { name: 'Search events' }).fill('nobody');
  await page.getByText('No event matches').waitFor();
  await page.getByRole('button', { name: 'Show all events' }).click();
  await untilLines(page, 'was changed', 1);

  await page.getByRole('button', { name: 'Pause' }).click();
  const lines = await log(page).count();
  await move(hub, 'tag-1', [20, 20]);
  // Entry events of tag and trackable, and their collision.
  await page.getByRole('button', { name: 'Resume, 3 new' }).waitFor();
  assert.equal(await log(page).count(), lines);
  await page.getByRole('button', { name: 'Resume' }).click();
  await untilLines(page, 'Crane entered Dock A', 2);
  const last = log(page).filter({ hasText: 'Crane entered Dock A' }).first();
  await last.getByRole('button', { name: 'JSON of the event' }).click();
  await last.getByText('"region_entry"').waitFor();
  await last.getByRole('link', { name: 'Show on the map' }).click();
  await page.getByRole('complementary', { name: 'Selected fence' }).getByRole('heading', { name: 'Dock A' }).waitFor();
  await page.goBack();
  await untilLines(page, 'Crane entered Dock A', 2);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('Nothing has happened yet').waitFor();
});

test('The occupancy of each fence matches the hub, and follows entries and exits', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', { type: 'virtual', name: 'Cart', location_providers: ['tag-2'] });
  await move(hub, 'tag-1', [20, 20]);
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/events/occupancy`);
  const inside = async (fence: string, text: string): Promise<void> => {
    await page.getByRole('listitem').filter({ hasText: fence }).filter({ hasText: text }).waitFor();
  };
  await inside(DOCK.name, '1 inside');
  await inside(CELLAR.name, '0 inside');
  // Its clock lags, but the event still counts.
  const earlier = new Date(Date.now() - 30_000).toISOString();
  await move(hub, 'tag-2', [21, 20], { timestamp_generated: earlier });
  await inside(DOCK.name, '2 inside');
  const chart = page.getByRole('figure', { name: 'Inside fences over time' });
  await chart.getByText('Dock A 2').waitFor();
  await page.getByRole('button', { name: 'Cellar' }).first().click();
  await page.waitForURL(/fences=/);
  await move(hub, 'tag-1', [60, 20]);
  await inside(DOCK.name, '1 inside');
  await inside(DOCK.name, 'most 2');
  await page.getByRole('button', { name: '1 h' }).click();
  await page.getByRole('searchbox', { name: 'Search fences' }).fill('cell');
  await page.getByRole('listitem').filter({ hasText: 'Dock A' }).waitFor({ state: 'hidden' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertRule } from '../../src/model/alert.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const TRAILER = '7d0f6f0e-54f6-4f0c-9d0b-0d3c7b8a0001';

test('An alert rule built in the UI raises an alert, which clears after it is acknowledged', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts`);
  await page.getByText('No open alerts').waitFor();
  await page.getByRole('link', { name: 'Create an alert rule' }).click();
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  await dialog.getByLabel('Which fences').selectOption('one of these fences');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.getByRole('alert').getByText('Choose at least one fence').waitFor();
  await dialog.getByRole('checkbox', { name: 'Dock A' }).check();
  await dialog.getByLabel('Which objects').selectOption('a trackable with a property');
  await dialog.getByLabel('Property').fill('driver');
  await dialog.getByLabel('Its value').fill('Kim');
  await dialog.getByText(/^Watching 1 object\./).waitFor();
  await dialog.getByLabel('Name').fill('Kim is at the dock');
  await dialog.getByLabel('Severity').selectOption('Critical');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  const rules = page.getByRole('list', { name: 'Alert rules' });
  await rules.getByText('Alert when any trackable with driver = Kim enters Dock A.').waitFor();
  const [rule] = (await hub.get('/alerts/rules')).body;
  assert.deepEqual(rule.property, { name: 'driver', value: 'Kim' });
  await hub.settle();

  await page.getByRole('tab', { name: 'Alerts' }).click();
  await move(hub, 'tag-1', [20, 20]);
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await alerts.getByText(`${FORKLIFT.name} has entered Dock A`).waitFor();
  const bell = page
    .getByRole('navigation', { name: 'Main' })
    .first()
    .getByRole('link', { name: /Alerts/ });
  await untilHolds(page, async () => (await bell.innerText()).includes('1'));
  await page.getByRole('button', { name: /^Acknowledge: / }).click();
  await alerts.getByText('Acknowledged').waitFor();
  await untilHolds(page, async () => !(await bell.innerText()).includes('1'));
  await move(hub, 'tag-1', [60, 20]);
  await alerts.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cleared', exact: true }).click();
  await page.getByText('Kim is at the dock').waitFor();

  await move(hub, 'tag-1', [20, 20]);
  await untilHolds(page, async () => (await bell.innerText()).includes('1'));
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click();
  await untilHolds(page, async () => !(await bell.innerText()).includes('1'));

  await page.getByRole('button', { name: 'Sound' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Sound', pressed: true }).waitFor();
});

test('An alert rule can watch a provider that belongs to no trackable', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-9', [60, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts/rules?rule=new`);
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  const who = dialog.getByLabel('Which objects');
  await who.selectOption('any trackable or unassigned provider');
  await dialog.getByText(/^Watching 2 objects\./).waitFor();
  await who.selectOption('one of these providers');
  await dialog.getByLabel('Name').fill('Tag 9 is somewhere');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.getByRole('alert').getByText('Choose at least one provider').waitFor();
  await dialog.getByRole('checkbox', { name: 'tag-9' }).check();
  await dialog.getByText(/^Watching 1 object\./).waitFor();
  await dialog.getByRole('button', { name: 'Collides' }).click();
  assert.equal(await who.locator('option').count(), 3, 'trackables alone collide');
  await dialog.getByRole('button', { name: 'Enters' }).click();
  await who.selectOption('one of these providers');
  await dialog.getByRole('checkbox', { name: 'tag-9' }).check();
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('list', { name: 'Alert rules' }).getByText('Alert when tag-9 enters any fence.').waitFor();
  const rules = (await hub.get('/alerts/rules')).body as {
    name: string;
    object_type?: string;
    provider_ids?: string[];
  }[];
  const rule = rules.find(({ name }) => name === 'Tag 9 is somewhere');
  assert.deepEqual([rule?.object_type, rule?.provider_ids], ['location_provider', ['tag-9']]);
  await hub.settle();

  await page.getByRole('tab', { name: 'Alerts' }).click();
  await move(hub, 'tag-9', [20, 20]);
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await alerts.getByText('tag-9 has entered Dock A').waitFor();
  await alerts.getByRole('link', { name: /^Show on the map: / }).click();
  await page.waitForURL(/sel=providers(:|%3A)tag-9/);
  await page.getByRole('button', { name: 'Layers' }).click();
  assert.equal(await page.getByLabel('Location providers').isChecked(), true, 'the selection is visible');
});

test('Rules on speeds, gates and distances are built as sentences, with a schedule', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', { id: TRAILER, type: 'omlox', name: 'Trailer' });
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts/rules?rule=new`);
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  await dialog.getByRole('button', { name: 'Moves too fast' }).click();
  await dialog.getByLabel('Speed in m/s').fill('1.5');
  await dialog.getByLabel('How long').fill('0');
  await dialog.getByLabel('Only at certain times').check();
  await dialog.getByRole('checkbox', { name: 'Sunday' }).uncheck();
  await dialog.getByLabel('From').fill('22:00');
  await dialog.getByLabel('To', { exact: true }).fill('06:00');
  await dialog.getByLabel('Time zone').selectOption('Europe/Berlin');
  await dialog.getByText(/^Watching 2 objects. Faster now: 0/).waitFor();
  await dialog.getByLabel('Name').fill('Too fast at night');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  const rules = page.getByRole('list', { name: 'Alert rules' });
  await rules.getByText('In effect: Mon, Tue, Wed, Thu, Fri, Sat, 22:00–06:00 (Europe/Berlin)').waitFor();

  await page.getByRole('button', { name: 'New rule' }).click();
  await dialog.getByRole('button', { name: 'Crosses a gate' }).click();
  await dialog.getByLabel('Which side').selectOption('right');
  await dialog.getByRole('checkbox', { name: 'Dock A' }).check();
  await dialog.getByRole('button', { name: 'Is too far away' }).click();
  await dialog.getByRole('checkbox', { name: FORKLIFT.name }).check();
  await dialog.getByLabel('Which others').selectOption('all of those');
  await dialog.getByLabel('Name').fill('Alone');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.getByRole('alert').getByText('Choose at least one trackable').waitFor();
  await dialog.getByLabel('Which others').selectOption('all others of these');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.getByRole('alert').getByText('Choose at least two trackables').waitFor();
  await dialog.getByRole('checkbox', { name: 'Trailer' }).check();
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  await rules.getByText(/^Alert when one of 2 trackables is farther than 20 m from all others of these/).waitFor();
  const saved = (await hub.get('/alerts/rules')).body as AlertRule[];
  const fast = saved.find(({ kind }) => kind === 'speed');
  const alone = saved.find(({ kind }) => kind === 'separated');
  assert.deepEqual(
    [fast?.speed_above, fast?.longer_than, fast?.schedule],
    [
      1.5,
      undefined,
      {
        days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],
        ...{ from: '22:00', to: '06:00', time_zone: 'Europe/Berlin' },
      },
    ],
  );
  assert.deepEqual([alone?.distance, alone?.direction], [20, undefined]);
});

test('Every page warns in red that conditions have no alert, until alerts are cleared', { skip }, async (t) => {
  const folder = temporaryFolder();
  const hub = await openUiHub(t, {}, { folder });
  await createSite(hub);
  const rule = { kind: 'entry', fence_ids: [DOCK.id], object_type: 'location_provider' };
  await hub.post('/alerts/rules', { ...rule, name: 'Tag in the dock', severity: 'warning' });
  await hub.settle();
  const tags = Array.from({ length: 812 }, (_, i) => ({
    ...{ provider_id: `pallet-tag-${i}`, provider_type: 'uwb', source: 'hall', crs: 'local' },
    position: { type: 'Point', coordinates: [20, 20] },
  }));
  assert.equal((await hub.put('/providers/locations', tags)).status, 204);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await untilHolds(page, async () => (await hub.get('/alerts/summary')).body.not_raised.warning === 12);
  const banner = page.getByRole('alert').getByText('12 conditions hold without an alert');
  await banner.waitFor();
  await page.getByRole('link', { name: 'Open the alerts' }).click();
  await page.getByText('Not raised because too many alerts are open (800): Warning 12. Clear alerts').waitFor();
  assert.equal(await banner.count(), 0, 'the page of alerts warns once');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click();
  await page.getByText('Not raised because').waitFor({ state: 'detached' });
  assert.deepEqual((await hub.get('/alerts/summary')).body.open, { info: 0, warning: 12, critical: 0 });
});

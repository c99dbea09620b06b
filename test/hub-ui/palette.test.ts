import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violationsIn } from '../support/axe.ts';
import { openPage, WITHOUT_BROWSER } from '../support/browser.ts';
import { openRecordedHub } from './history_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('Ctrl+K goes to pages, floors, entities, actions and times', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/operations`, { locale: 'en-US', timezoneId: 'Europe/Berlin' });
  const dialog = page.getByRole('dialog', { name: 'Go to' });
  const goTo = async (text: string, option: RegExp): Promise<void> => {
    await page.keyboard.press('Control+k');
    await dialog.waitFor();
    await page.keyboard.type(text);
    await dialog.getByRole('option', { name: option }).first().waitFor();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  await page.getByRole('heading', { name: 'Operations' }).waitFor();
  await page.keyboard.press('Control+k');
  await dialog.getByRole('option', { name: /^Alerts/ }).waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await goTo('mus', /Muster list/);
  await page.waitForURL(/\/muster/);
  await goTo('forklift', /Forklift 7/);
  await page.waitForURL(/sel=trackables/);
  await goTo('floor -2', /Floor -2/);
  await page.waitForURL(/floor=-2/);
  await goTo('gestern 14:00', /14:00|2:00/);
  await page.waitForURL(/[?&]t=/);
  const t0 = new URL(page.url()).searchParams.get('t') ?? '';
  const hour = new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone: 'Europe/Berlin' });
  assert.equal(hour.format(Date.parse(t0)), '14');
  assert.ok(Date.now() - Date.parse(t0) < 48 * 3_600_000);
  await goTo('dark', /Dark theme/);
  await page.waitForFunction("document.documentElement.dataset['theme'] === 'dark' || localStorage.length > 0");
  await page.keyboard.press('Control+k');
  await page.keyboard.type('xyzzy');
  await dialog.getByText('No match for “xyzzy”').waitFor();
});

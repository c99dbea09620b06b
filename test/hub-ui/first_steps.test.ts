import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { firstPosition, mqttLine } from '../../src/hub-ui/first_steps/send_lines.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { CELLAR, earth, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const run = promisify(execFile);

test('The first position is the middle of the first zone that has one', () => {
  const [longitude, latitude] = firstPosition([{ id: 'none', type: 'none' }, HALL] as never);
  const [x, y] = earth(50, 30);
  assert.ok(Math.hypot(longitude - x, latitude - y) < 2e-6, `${longitude}, ${latitude}`);
});

for (const [broker, options] of [
  ['mqtt://broker.example:1884', '-h broker.example -p 1884'],
  ['mqtt://broker.example', '-h broker.example'],
  ['mqtts://broker.example:8883', '-h broker.example -p 8883 --tls-use-os-certs'],
] as const) {
  test(`The MQTT command publishes to ${broker}`, () => {
    const [command, payload = ''] = mqttLine(broker, [8.5, 50]).split(' \\\n  -m ');
    assert.equal(command, `mosquitto_pub -V 5 ${options} -t '/omlox/json/location_updates/pub/tag-1'`);
    assert.deepEqual(JSON.parse(payload.slice(1, -1)).position, { type: 'Point', coordinates: [8.5, 50] });
  });
}

test('The first steps lead from an empty hub to an alert, and check themselves', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'first steps' }).click();
  const step = (title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });
  const done = (title: string) => step(title).getByText('Done', { exact: true }).waitFor({ state: 'attached' });
  await page.getByText('0 of 4 done').waitFor();
  await step('Send a position').getByText('Listening …').waitFor();
  await page.getByText('For MQTT, set mqtt_address').waitFor();

  await hub.post('/zones', HALL);
  await done('Place your site');
  await page.goto(`${hub.origin}/hub-ui/home`);
  await page.getByText('The hub has not received a location yet.').waitFor();
  await page.getByRole('link', { name: 'Continue the first steps' }).click();

  // The command works as it is shown, in a shell.
  const command = (await page.getByRole('region', { name: 'REST' }).locator('pre').textContent()) ?? '';
  await run('sh', ['-c', `${command} -fsS`]);
  await done('Send a position');
  await page.getByText(/^tag-1 was located/).waitFor();
  const [{ position }] = (await hub.get('/providers/locations')).body;
  assert.deepEqual(position.coordinates.slice(0, 2), firstPosition([HALL] as never));

  await page.goto(`${hub.origin}/hub-ui/home`);
  await page.getByText('The hub does not have a fence yet.').waitFor();
  await hub.post('/fences', { ...CELLAR, floor: 0 });
  const steps = page.getByRole('link', { name: 'Continue the first steps' });
  await steps.waitFor({ state: 'detached' });
  await page.goto(`${hub.origin}/hub-ui/first-steps`);
  await done('Draw a fence');
  await step('Create an alert rule').getByRole('link', { name: 'New rule' }).click();
  await page.getByRole('dialog').waitFor();
  await hub.post('/alerts/rules', { name: 'Cellar', kind: 'entry' });
  await page.goto(`${hub.origin}/hub-ui/first-steps`);
  await page.getByText('4 of 4 done').waitFor();
});

for (const [theme, width, locale, text] of [
  ['light', 1280, 'en-US', 'Listening …'],
  ['dark', 1280, 'en-US', 'Listening …'],
  ['dark', 390, 'en-US', 'Listening …'],
  ['light', 390, 'de-DE', 'Warte auf Ortungen …'],
  ['light', 390, 'fr-FR', 'À l’écoute …'],
  ['light', 390, 'es-ES', 'A la escucha …'],
] as const) {
  test(`The first steps fit ${width} px in the ${theme} theme, for ${locale}`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    const page = await openPage(t, `${hub.origin}/hub-ui/first-steps`, { theme, width, locale });
    await page.getByText(text).waitFor();
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `first-steps-${width}-${theme}.png`) });
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= width, `${wide} px`);
    assert.deepEqual(await violationsIn(page), []);
  });
}

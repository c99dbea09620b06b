import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A reader from Germany works in German, and changes to English', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { locale: 'de-DE' });
  await page.getByRole('heading', { name: 'Listen' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');

  await page.getByRole('checkbox', { name: `${DOCK.name} auswählen` }).check();
  await page.getByText('1 ausgewählt').waitFor();
  await page.getByRole('button', { name: 'Löschen', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Geofence löschen?' });
  await dialog.getByRole('button', { name: 'Löschen', exact: true }).click();
  await page.getByText('1 Geofence gelöscht').waitFor();
  await page.getByRole('button', { name: 'Rückgängig' }).click();
  await page.getByText(`${DOCK.name} wiederhergestellt`).waitFor();

  await page.getByRole('link', { name: 'Zonen', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Zonen' }).waitFor();
  await page.getByRole('button', { name: 'Sprache und Zeit' }).click();
  await page.getByRole('button', { name: 'English', exact: true }).click();
  await page.getByRole('heading', { name: 'Zones' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  // The language persists until another is chosen.
  await page.reload();
  await page.getByRole('heading', { name: 'Zones' }).waitFor();
  await page.getByRole('button', { name: 'Language and time' }).click();
  await page.getByRole('button', { name: 'Browser default', exact: true }).click();
  await page.getByRole('heading', { name: 'Zonen' }).waitFor();
});

test('A reader from France deletes a fence in French, and switches to German', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { locale: 'fr-CA' });
  await page.getByRole('heading', { name: 'Listes' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'fr');
  await page.getByRole('checkbox', { name: `Sélectionner ${DOCK.name}` }).check();
  await page.getByRole('button', { name: 'Supprimer', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Supprimer cette géoclôture ?' });
  await dialog.getByRole('button', { name: 'Supprimer', exact: true }).click();
  await page.getByText('Supprimé : 1 géoclôture').waitFor();
  await page.getByRole('button', { name: 'Annuler' }).click();
  await page.getByText(`Restauré : ${DOCK.name}`).waitFor();
  await page.getByRole('link', { name: 'Zones', exact: true }).first().click();
  await page.getByRole('button', { name: 'Langue et heure' }).click();
  await page.getByRole('button', { name: 'Deutsch', exact: true }).click();
  await page.getByRole('heading', { name: 'Zonen' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
});

test('A reader from Spain creates a zone in Spanish', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { locale: 'es-ES' });
  await page.getByRole('heading', { name: 'Nueva zona' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'es');
  await page.getByLabel('Nombre', { exact: true }).fill('Nave 3');
  await page.getByLabel('Guardar incompleto, sin posición geográfica').check();
  await page.getByRole('button', { name: 'Crear zona' }).click();
  await page.getByText('Guardado: Nave 3').waitFor();
  await page.getByRole('button', { name: 'Eliminar', exact: true }).click();
  await page.getByRole('dialog', { name: '¿Eliminar esta zona?' }).waitFor();
});

test('A value rejected by the hub is reported in German at its field to a German reader', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { locale: 'de-DE', mayFail: true });
  const foreignId = page.getByLabel('Externe ID');
  await page.getByLabel('Unvollständig speichern, ohne geografische Position').check();
  await foreignId.fill('hall');
  await page.getByRole('button', { name: 'Zone anlegen' }).click();
  const sentence = 'Muss sich von IDs und externen IDs anderer Zonen unterscheiden; angegeben ist „hall“.';
  const field = foreignId.locator('xpath=ancestor::*[.//*[@role="alert"]][1]');
  await field.getByText(sentence, { exact: true }).waitFor();
  assert.equal(await foreignId.getAttribute('aria-invalid'), 'true');
});

test('Numbers are formatted for the locale of the reader', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20], { accuracy: 1234.5 });
  const address = `${hub.origin}/hub-ui/?sel=trackables:${FORKLIFT.id}`;
  for (const [locale, technical, written] of [
    ['en-US', 'Technical', '1,234.5 m'],
    ['de-DE', 'Technisches', '1.234,5 m'],
    ['fr-FR', 'Détails techniques', '1 234,5 m'],
    ['es-ES', 'Detalles técnicos', '1234,5 m'],
    ['es-MX', 'Detalles técnicos', '1,234.5 m'],
    ['it-IT', 'Technical', '1,234.5 m'], // A language that the page does not support falls back to English.
  ] as const) {
    const page = await openPage(t, address, { locale });
    await page.getByText(technical, { exact: true }).click();
    await page.getByText(written, { exact: true }).waitFor();
  }
});

test('Times are shown in the time zone that the reader chooses', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=trackables:${FORKLIFT.id}`, {
    timezoneId: 'Europe/Berlin',
  });
  const shown = page.locator('[data-panel] time').first();
  const clockIn = (timeZone: string, at: string | null): string =>
    new Date(at ?? '').toLocaleTimeString('en-US', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' });
  assert.equal(await shown.textContent(), clockIn('Europe/Berlin', await shown.getAttribute('datetime')));

  await page.getByRole('button', { name: 'Language and time' }).click();
  await page.getByLabel('Time zone', { exact: true }).selectOption('Asia/Tokyo');
  await untilHolds(page, async () => {
    const [text, at] = await Promise.all([shown.textContent(), shown.getAttribute('datetime')]);
    return text === clockIn('Asia/Tokyo', at);
  });
});

test('On a phone, language and time zone are in the menu', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists`, { width: 390, locale: 'de-AT' });
  await page.getByRole('button', { name: 'Mehr' }).click();
  await page.getByLabel('Zeitzone').waitFor();
  await page.getByRole('button', { name: 'English', exact: true }).click();
  await page.getByRole('heading', { name: 'Lists' }).waitFor();
});

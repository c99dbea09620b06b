import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { RpcClient } from '../support/rpc_client.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A client that answers all calls until its connection closes. */
async function answering(origin: string, method: string, said: object): Promise<RpcClient> {
  const client = await RpcClient.open(origin);
  await client.register(method);
  client.socket.on('message', (data) => {
    const { id } = JSON.parse(String(data));
    client.send({ jsonrpc: '2.0', id, ...said });
  });
  return client;
}

test('Methods are listed with their handlers and called, by keyboard alone', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const led = await answering(hub.origin, 'Blink LED', { result: { lit: true } });
  const busy = await answering(hub.origin, 'Blink LED', { error: { code: 3, message: 'busy' } });
  t.after(() => Promise.all([led.close(), busy.close()]));
  const page = await openPage(t, `${hub.origin}/hub-ui/methods`);
  const { body } = await hub.get('/rpc/available');
  const [first, second] = body['Blink LED'].handler_id as readonly string[];
  const row = page.getByRole('region', { name: 'Methods' }).getByRole('row', { name: /Blink LED/ });
  for (const id of [first, second]) await row.getByText(id ?? '', { exact: true }).waitFor();

  await row.getByRole('button', { name: 'Blink LED' }).focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('region', { name: 'Call' });
  assert.equal(await form.getByLabel('Method').inputValue(), 'Blink LED');
  await form.getByLabel('Parameters').focus();
  await page.keyboard.type('{"times":');
  await form.getByText(/^This must be JSON/).waitFor();
  assert.ok(await form.getByRole('button', { name: 'Call' }).isDisabled());
  await page.keyboard.type(' 3}');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const answers = page.getByRole('region', { name: 'Answers' }).getByRole('listitem');
  const answerOf = (id: string | undefined) => answers.filter({ hasText: id ?? '' });
  await answerOf(first).getByText('Result').waitFor();
  await answerOf(first).getByText('"lit": true').waitFor();
  await answerOf(first)
    .getByText(/^[\d.]+ ms · /)
    .waitFor();
  await answerOf(second).getByText('"busy"').waitFor();
  assert.equal(await answers.count(), 2);

  await form.getByLabel('Show').selectOption('The first success');
  await form.getByRole('button', { name: 'Call' }).click();
  await answers.filter({ hasText: 'first to answer' }).getByText('Result').waitFor();
  await form.getByLabel('Handler').selectOption(second ?? '');
  assert.ok(await form.getByLabel('Show').isDisabled());
  await form.getByLabel('Timeout').fill('0');
  await form.getByText('This must be a whole number from 1 to 60,000.').waitFor();
});

test('Methods have the same layout in both themes, and fit on a narrow screen with long names', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const wordy = await answering(hub.origin, 'a name of many words '.repeat(12), { result: true });
  t.after(() => wordy.close());
  for (const options of [{ theme: 'light' }, { theme: 'dark' }, { theme: 'dark', width: 390 }] as const) {
    const page = await openPage(t, `${hub.origin}/hub-ui/methods`, options);
    await page.getByRole('region', { name: 'Call' }).getByRole('button', { name: 'Call' }).click();
    await page.getByText('"Pong"').waitFor();
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(overflow, 0);
    const methods = page.getByRole('region', { name: 'Methods' });
    assert.equal(await methods.evaluate((box) => box.scrollWidth - box.clientWidth), 0);
    const folder = process.env['METHODS_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${options.theme}-${'width' in options}.png` });
  }
});

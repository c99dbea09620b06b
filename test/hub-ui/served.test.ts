import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';

test('A hub serves its web UI at /hub-ui, and redirects URLs of earlier releases to it', async (t) => {
  const builder = new URL('../../src/build_ui.mjs', import.meta.url).href;
  const { ensureBuilt } = (await import(builder)) as { ensureBuilt(): void };
  ensureBuilt();
  const hub = await openTestHub();
  t.after(hub.close);
  for (const path of ['/hub-ui', '/v1/web', '/hub/v1/web']) {
    const { status, headers } = await hub.get(hub.origin + path);
    assert.deepEqual([status, headers.location], [302, '/hub-ui/'], path);
  }
  const page = await hub.get(`${hub.origin}/hub-ui/`);
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-type']), /^text\/html/);
  const scripts = [...page.text.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source = '']) => source);
  assert.ok(scripts.length > 0, page.text);
  for (const source of scripts) {
    const { status, headers } = await hub.get(new URL(source, `${hub.origin}/hub-ui/`).href);
    assert.deepEqual([status, /^text\/javascript/.test(String(headers['content-type']))], [200, true], source);
  }
});

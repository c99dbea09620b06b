import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from './open_api.ts';

const PAGES = ['/hub/docs', '/hub/docs/', '/docs', '/deephub/docs', '/hub/docs/socket', '/hub/docs/rest'];
const FILES = ['rest.js', 'socket.js', 'docs.css', 'swagger-ui.css', 'swagger-ui-bundle.js'];

test('The documentation pages load only files of the hub', async () => {
  const { send } = openApi();
  for (const path of PAGES) {
    const { status, headers, body } = await send('GET', path);
    const text = String(body);
    assert.equal(status, 200, path);
    assert.equal(headers['Content-Type'], 'text/html; charset=utf-8');
    assert.match(headers['Content-Security-Policy'] ?? '', /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(text, /https?:\/\/|\{base\}|<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    const loaded = [...text.matchAll(/(?:src|href)="(\/[^"?]*)/g)].map(([, address = '']) => address);
    assert.ok(loaded.length > 3, text);
    for (const address of new Set(loaded)) assert.equal((await send('GET', address)).status, 200, address);
  }
});

test('The files of the documentation have their types, and cannot be executed as anything else', async () => {
  const { send } = openApi();
  for (const file of FILES) {
    const { status, headers } = await send('GET', `/hub/docs/${file}`);
    const type = file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    assert.deepEqual([status, headers['Content-Type'], headers['X-Content-Type-Options']], [200, type, 'nosniff']);
  }
});

test('The documentation has no other files', async () => {
  const { send } = openApi();
  for (const name of ['package.json', '..%2F..%2Fhub.ts', '%2Fetc%2Fpasswd', 'constructor', '__proto__', 'rest.html']) {
    const { status, body } = await send('GET', `/hub/docs/${name}`);
    assert.deepEqual([status, body.code], [404, 404], name);
  }
});

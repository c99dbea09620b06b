import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { raw } from '../transport/harness.ts';

/** Ways to escape a folder, and to bypass a check of the path. */
const TRICKS = [
  '/hub/docs/../../package.json',
  '/hub/docs/%2e%2e/%2e%2e/package.json',
  '/hub/docs/%2e%2e%2f%2e%2e%2fpackage.json',
  '/hub/docs/..%5c..%5cpackage.json',
  '/hub/docs/..%c0%af..%c0%afpackage.json',
  '/hub/docs//etc/passwd',
  '/hub/docs/%2Fetc%2Fpasswd',
  '/hub/docs/swagger-ui.css%00.html',
  '/..',
  '/../data.dat',
  '//data.dat',
  '/./hub/v2/zones',
  '/hub//v2/zones',
  '//hub/v2/zones',
  '/hub/v2//zones',
  '/hub/v2/./zones',
  '/hub/v2/fences/../zones',
  '/hub/v2/fences/%2e%2e/zones',
  '/hub/v2%2fzones',
  '/hub%2fv2/zones',
  '/hub/v2/zones%00',
  '/hub/v2/zones;x=1',
  '/HUB/V2/ZONES',
  '\\hub\\v2\\zones',
  'http://127.0.0.1/hub/v2/zones',
  '*',
];

let hub: TestHub;
before(async () => {
  hub = await openTestHub();
  assert.equal((await hub.post('/providers', { id: '../zones', type: 'uwb' })).status, 201);
});
after(() => hub.close());

for (const path of TRICKS) {
  test(`${path} finds nothing`, async () => {
    const request = `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`;
    const answer = await raw(hub.hub.port, [request], /\r\n\r\n.+$/s);
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
    // The native server answers 505 to paths that do not begin with a slash.
    assert.ok(status === '404' || status === '400' || status === '505', answer.slice(0, 200));
    assert.doesNotMatch(answer, /omlox-location-hub|root:|SQLite/);
  });
}

test('An id is its segment, decoded once: it cannot escape its list', async () => {
  assert.equal((await hub.get('/providers/..%2Fzones')).body.id, '../zones');
  assert.equal((await hub.get('/providers/%2e%2e%2fzones')).body.id, '../zones');
  assert.equal((await hub.get('/providers/..%252Fzones')).status, 404);
});

test('An id with a control character is rejected, in a path and in a body', async () => {
  for (const control of ['\u0000', '\t', '\r', '\n', '\u001b', '\u007f', '\u0085']) {
    const id = `a${control}b`;
    const problem = /must have no control characters/;
    const read = await hub.get(`/providers/${encodeURIComponent(id)}`);
    assert.equal(read.status, 400);
    assert.match(read.body.message, problem);
    const created = await hub.post('/providers', { id, type: 'uwb' });
    assert.equal(created.status, 400);
    assert.match(created.body.message, problem);
  }
});

test('A response has no header from a client', async () => {
  const injected = 'a\r\nX-Injected: 1\r\n\r\n<html>';
  const path = `/providers/${encodeURIComponent(injected)}`;
  for (const { status, headers } of [
    await hub.post('/providers', { id: injected, type: 'uwb' }),
    await hub.get(path),
  ]) {
    assert.equal(status, 400);
    assert.equal(headers['x-injected'], undefined);
  }
  // Other ids are accepted; the low bytes of U+010D and U+010A are CR and LF.
  for (const id of ['a: 1, <html>"', 'a%0d%0aX-Injected: 1', 'a\u2028X-Injected: 1', '\u010d\u010aX-Injected: 1']) {
    const { status, headers } = await hub.post('/providers', { id, type: 'uwb' });
    assert.equal(status, 201);
    assert.equal(headers['x-injected'], undefined);
    assert.equal(headers.location, `/hub/v2/providers/${encodeURIComponent(id)}`);
    assert.equal((await hub.get(`/providers/${encodeURIComponent(id)}`)).body.id, id);
  }
});

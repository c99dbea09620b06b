import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { proxyHeader, refuseProxyHeaders } from '../../src/transport/proxy_header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a21';

const ADDRESSES: readonly (readonly [address: string, header: string])[] = [
  ['192.0.2.1', `11000cc0000201c000020100000000`],
  ['::ffff:192.0.2.1', `11000cc0000201c000020100000000`],
  ['::1', `210024${'00'.repeat(15)}01${'00'.repeat(15)}0100000000`],
  ['2001:db8::a:1', `210024${'20010db80000000000000000000a0001'.repeat(2)}00000000`],
  ['fe80::1%eth0', `210024${'fe800000000000000000000000000001'.repeat(2)}00000000`],
  ['1:2:3:4:5:6:7:8', `210024${'00010002000300040005000600070008'.repeat(2)}00000000`],
];

for (const [address, header] of ADDRESSES) {
  test(`proxyHeader encodes the address ${address}`, () => {
    assert.equal(proxyHeader(address).toString('hex'), SIGNATURE + header);
  });
}

test('refuseProxyHeaders passes everything else on, regardless of chunk boundaries', async () => {
  const text = Buffer.from('\r\n\r\n\0\r\nQUIT GET / HTTP/1.1\r\n\r\n\r\n\r\n\0\r\nQUI');
  for (const size of [1, 2, 7, 11, 12, 100]) {
    const guard = refuseProxyHeaders();
    const seen = buffer(guard);
    for (let at = 0; at < text.length; at += size) guard.write(text.subarray(at, at + size));
    guard.end();
    assert.deepEqual(await seen, text);
  }
});

test('refuseProxyHeaders closes at a header, wherever it is split', async () => {
  const header = proxyHeader('192.0.2.1');
  for (const size of [1, 3, 6, 11, 12, 13, 28]) {
    const guard = refuseProxyHeaders();
    const failed = new Promise((resolve) => guard.once('error', resolve));
    guard.resume();
    guard.write('GET / HTTP/1.1\r\n\r\n');
    for (let at = 0; at < header.length; at += size) guard.write(header.subarray(at, at + size));
    assert.match(String(await failed), /PROXY header/);
  }
});

import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { type Resolve, OutgoingTargets } from '../../src/entities/outgoing_targets.ts';

/** URLs by which an attacker tries to reach a service that only the hub can reach. */
const TRICKS = [
  ...['http://127.0.0.1', 'http://127.1', 'http://127.0.1', 'http://127.255.255.254', 'http://0.0.0.0', 'http://0'],
  ...['http://2130706433', 'http://0x7f000001', 'http://0x7f.0.0.1', 'http://017700000001', 'http://0177.0.0.01'],
  ...['http://0x7f.1', 'http://127.0.0.1.', 'http://127。0。0。1', 'http://①②⑦.⓪.⓪.①', 'http://%31%32%37.0.0.1'],
  ...['http://10.0.0.1', 'http://10.255.255.255', 'http://172.16.0.1', 'http://172.31.255.255', 'http://192.168.1.1'],
  ...[
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0251.0376.0251.0376',
  ],
  ...['http://169.254.170.2', 'http://100.100.100.200', 'http://192.0.0.192', 'http://168.63.129.16'],
  ...['http://100.64.0.1', 'http://198.18.0.1', 'http://192.0.2.1', 'http://198.51.100.7', 'http://203.0.113.9'],
  ...['http://224.0.0.1', 'http://255.255.255.255', 'http://240.0.0.1', 'http://192.88.99.1'],
  ...['http://[::1]', 'http://[::]', 'http://[0:0:0:0:0:0:0:1]', 'http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]'],
  ...[
    'http://[::127.0.0.1]',
    'http://[::ffff:0:127.0.0.1]',
    'http://[64:ff9b::127.0.0.1]',
    'http://[64:ff9b::a9fe:a9fe]',
  ],
  ...['http://[64:ff9b:1::7f00:1]', 'http://[2002:7f00:1::]', 'http://[2001:0:7f00:1::]', 'http://[fe80::1]'],
  ...['http://[fc00::1]', 'http://[fd00:ec2::254]', 'http://[fec0::1]', 'http://[ff02::1]', 'http://[2001:db8::1]'],
  ...['http://[100::1]', 'http://[3fff::1]', 'https://user@127.0.0.1', 'https://example.com@127.0.0.1:8443/'],
];

/** Addresses to which names resolve. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'hooks.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
  localhost: ['127.0.0.1', '::1'],
  'metadata.google.internal': ['169.254.169.254'],
  'half.example.com': ['93.184.216.34', '10.0.0.1'],
  'mapped.example.com': ['::ffff:10.0.0.1'],
  'zoned.example.com': ['fe80::1%eth0'],
  'erp.local': ['10.1.2.3'],
};

const resolve: Resolve = (hostname, _options, done) => {
  const addresses = NAMES[hostname];
  if (addresses === undefined) done(new Error(`getaddrinfo ENOTFOUND ${hostname}`), []);
  else
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
};

function resolved(targets: OutgoingTargets, hostname: string, all = true): Promise<string | LookupAddress[]> {
  return new Promise((fulfil, reject) => {
    targets.lookup(hostname, { all }, (error, address) => (error === null ? fulfil(address) : reject(error)));
  });
}

test(`By default none of ${TRICKS.length} addresses that are not public is a target`, () => {
  assert.ok(TRICKS.length >= 50);
  const targets = new OutgoingTargets('sink_allowed_hosts', ['*']);
  for (const url of TRICKS) {
    assert.match(targets.whyNotHost(new URL(url).hostname) ?? 'allowed', /^address \S+ is not public/, url);
  }
});

test('By default public addresses and all names are targets', () => {
  const targets = new OutgoingTargets('sink_allowed_hosts', ['*']);
  for (const url of [
    'http://8.8.8.8',
    'https://[2606:4700::1111]',
    'http://[64:ff9b::808:808]',
    'http://[::ffff:8.8.8.8]',
  ]) {
    assert.equal(targets.whyNotHost(new URL(url).hostname), undefined, url);
  }
  assert.equal(targets.whyNotHost('hooks.example.com'), undefined);
});

test('A name is resolved once, and refused if any of its addresses is not public', async () => {
  const targets = new OutgoingTargets('sink_allowed_hosts', ['*'], resolve);
  for (const name of [
    'localhost',
    'metadata.google.internal',
    'half.example.com',
    'mapped.example.com',
    'zoned.example.com',
  ]) {
    await assert.rejects(resolved(targets, name), { name: 'TargetRefused', message: /which is not public/ }, name);
    await assert.rejects(resolved(targets, name, false), { name: 'TargetRefused' });
  }
  await assert.rejects(resolved(targets, 'unknown.example.com'), /ENOTFOUND/);
  assert.equal(await resolved(targets, 'hooks.example.com', false), '93.184.216.34');
  assert.equal((await resolved(targets, 'hooks.example.com')).length, 2);
});

test('A name server that changes its answer cannot redirect a connection: each lookup checks its own result', async () => {
  let answers = 0;
  const rebinding: Resolve = (_hostname, _options, done) => {
    answers++;
    done(null, [{ address: answers === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }]);
  };
  const targets = new OutgoingTargets('sink_allowed_hosts', ['*'], rebinding);
  assert.equal(await resolved(targets, 'rebind.example.com', false), '93.184.216.34');
  await assert.rejects(resolved(targets, 'rebind.example.com', false), /127\.0\.0\.1, which is not public/);
});

test('Names, domains, addresses and networks of sink_allowed_hosts are targets, and nothing else', async () => {
  const targets = new OutgoingTargets(
    'sink_allowed_hosts',
    ['hooks.example.com', '*.partner.example', '10.1.0.0/16', '127.0.0.1', 'fd00::/8'],
    resolve,
  );
  const allowed = ['hooks.example.com', 'HOOKS.example.com.', 'a.partner.example', 'a.b.partner.example', 'erp.local'];
  for (const host of [...allowed, '10.1.2.3', '127.0.0.1', '[fd00::1]', '[::ffff:10.1.2.3]']) {
    assert.equal(targets.whyNotHost(host), undefined, host);
  }
  for (const host of ['10.2.0.1', '127.0.0.2', '8.8.8.8', '[::1]', '[::ffff:10.2.0.1]']) {
    assert.match(targets.whyNotHost(host) ?? '', /sink_allowed_hosts/, host);
  }
  assert.equal(await resolved(targets, 'erp.local', false), '10.1.2.3');
  await assert.rejects(resolved(targets, 'half.example.com'), /93\.184\.216\.34, which is not in sink_allowed_hosts/);
  const named = new OutgoingTargets('sink_allowed_hosts', ['hooks.example.com']);
  assert.equal(named.whyNotHost('evil.example.com'), 'host "evil.example.com" is not in sink_allowed_hosts');
  assert.equal(
    named.whyNotHost('hooks.example.com.evil.com'),
    'host "hooks.example.com.evil.com" is not in sink_allowed_hosts',
  );
  // A name in the list does not make its private address a target.
  await assert.rejects(
    resolved(new OutgoingTargets('sink_allowed_hosts', ['erp.local'], resolve), 'erp.local'),
    /10\.1\.2\.3, which is not public/,
  );
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import type { BusStatus } from '../../src/cluster/nats/bus.ts';
import type { BusSettings } from '../../src/cluster/nats/frames.ts';
import { type NatsBus, openNatsBus } from '../../src/cluster/nats/nats_bus.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { readAll, textOf, up, utf8, withStream } from './contract.ts';
import { makeCredentials } from './credentials.ts';
import { testNats } from './test_nats.ts';

/**
 * Permissions of the user of a cluster named `hub`. NATS has no wildcard for a part of a token, so `hub_*` is impossible for a
 * stream: the account, which has no other streams, is the border.
 */
const STREAM_API = ['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.GET'].map((ask) => `$JS.API.STREAM.${ask}.*`);
const CONSUMER_API = ['CREATE', 'DELETE', 'MSG.NEXT'].map((ask) => `$JS.API.CONSUMER.${ask}.*.*`);
const ALLOWED = { publish: ['hub.>', '$JS.API.STREAM.LIST', ...STREAM_API, ...CONSUMER_API], subscribe: ['hub.>'] };
const PERMISSIONS = `permissions ${JSON.stringify(ALLOWED)}`;

const folder = temporaryFolder();
const { certificatePath, keyPath } = writeCertificate(folder, await makeCertificate());
const other = await makeCertificate();
const otherPath = join(folder, 'other.pem');
writeFileSync(otherPath, other.certificate);

const key = nkeys.createUser();
const nkeyPath = join(folder, 'user.nk');
writeFileSync(nkeyPath, `${new TextDecoder().decode(key.getSeed())}\n`);

const nats = await testNats({
  more: `
    tls { cert_file: "${certificatePath}", key_file: "${keyPath}", ca_file: "${certificatePath}", verify: true }
    accounts {
      HUB { jetstream: enabled, users: [
        { user: member, password: secret, ${PERMISSIONS} }
        { nkey: ${key.getPublicKey()}, ${PERMISSIONS} }
        { user: all, password: secret }
      ] }
    }`,
});
const { skip } = nats;

const credentials = makeCredentials(ALLOWED);
const credentialsPath = join(folder, 'user.creds');
writeFileSync(credentialsPath, credentials.file);
const foreignPath = join(folder, 'foreign.creds');
writeFileSync(foreignPath, makeCredentials(ALLOWED).file);
const operated = await testNats({ more: credentials.configuration });

const TLS = { caPath: certificatePath, certificatePath, keyPath };

function open(settings: Partial<BusSettings>, notice?: (text: string) => void): NatsBus {
  if (settings.credentialsPath !== undefined) {
    const servers = operated.servers.addresses;
    return openNatsBus({ servers, name: 'hub', memberName: 'test', ...settings }, notice);
  }
  const servers = nats.servers.servers.map(({ port }) => `tls://127.0.0.1:${port}`);
  return openNatsBus({ servers, name: 'hub', memberName: 'test', tls: TLS, ...settings }, notice);
}

const SIGN_INS: readonly (readonly [what: string, settings: Partial<BusSettings>])[] = [
  ['a name and a password', { username: 'member', password: 'secret' }],
  ['an nkey seed', { nkeyPath }],
  ['a credentials file', { credentialsPath }],
];

for (const [what, settings] of SIGN_INS) {
  test(`NatsBus has all its functions with ${what}, and the permissions of its name`, {
    skip,
  }, async (context) => {
    const notices: string[] = [];
    const bus = open(settings, (text) => notices.push(text));
    context.after(() => bus.close());
    const { settings: stream, subject, append } = await withStream({ name: 'hub' }, bus);
    assert.equal((await append({ bytes: utf8('one') })).at, 'committed');
    const messages = [utf8('two'), utf8('three')];
    assert.equal((await bus.replace({ stream: stream.name, subject, messages, timeoutMs: 2000 })).at, 'committed');
    assert.equal(textOf((await bus.last(stream.name, subject))?.bytes), 'three');
    assert.equal(textOf((await bus.message(stream.name, 2))?.bytes), 'two');
    assert.equal((await readAll(bus, stream, 1)).length, 2);
    await new Promise<void>((resolve) => {
      bus.follow(stream.name, { subjects: stream.subjects, fromSequence: 3 }, () => resolve());
    });
    await bus.alterStream({ ...stream, bytesMax: 1_000_000 });
    await bus.purge(stream.name, subject);
    assert.equal((await bus.streams('hub_')).length, 1);
    assert.ok(await bus.deleteStream(stream.name));
    const asked = await bus.request('hub.nobody', utf8(''), { timeoutMs: 2000, read: () => 1 });
    assert.deepEqual(asked, { at: 'noResponders' });
    assert.deepEqual(notices, []);
  });
}

test('NatsBus may do nothing outside of its name, and gets an error', { skip }, async (context) => {
  const notices: string[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const bus = open({ username: 'member', password: 'secret' }, (text) => notices.push(text) === 2 && resolve());
  const all = open({ username: 'all', password: 'secret' });
  context.after(() => Promise.all([bus.close(), all.close()]));
  const received: string[] = [];
  await all.subscribe('>', ({ subject }) => {
    if (!subject.startsWith('$') && !subject.includes('_INBOX')) received.push(subject);
  }).ready;
  await up(bus);
  bus.publish('else.m', utf8('foreign'));
  bus.subscribe('else.>', () => assert.fail('received a message of another cluster'));
  await both;
  assert.match(notices[0] ?? '', /Permissions Violation for Publish to "else\.m"/i);
  assert.match(notices[1] ?? '', /Permissions Violation for Subscription to "else\.>"/i);
  const marked = new Promise<void>((resolve) => void all.subscribe('hub.mark', () => resolve()));
  await all.subscribe('hub.other', () => undefined).ready;
  all.publish('else.m', utf8(''));
  bus.publish('hub.mark', utf8(''));
  await marked;
  assert.deepEqual(received, ['hub.mark']);
});

const REFUSED: readonly (readonly [what: string, settings: Partial<BusSettings>, why: RegExp])[] = [
  ['another password', { username: 'member', password: 'wrong' }, /authorization violation/i],
  ['no user', {}, /authorization violation/i],
  ['no certificate of its own', { username: 'member', password: 'secret', tls: { caPath: certificatePath } }, /./],
  ['another authority', { username: 'member', password: 'secret', tls: { ...TLS, caPath: otherPath } }, /self.signed/i],
  ['foreign credentials', { credentialsPath: foreignPath }, /authorization violation/i],
  ['a missing file', { nkeyPath: join(folder, 'none.nk') }, /ENOENT.*none\.nk/],
];

for (const [what, settings, why] of REFUSED) {
  test(`NatsBus is rejected with ${what}, and reports the reason`, { skip }, async (context) => {
    const bus = open(settings);
    context.after(() => bus.close());
    const status = await new Promise<BusStatus>((resolve) => {
      bus.watch((status) => (status.at === 'up' || status.why !== 'not connected yet') && resolve(status));
    });
    assert.equal(status.at, 'down');
    assert.match(status.at === 'down' ? status.why : '', why);
  });
}

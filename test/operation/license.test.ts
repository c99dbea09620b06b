import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { verifyLicenseKey } from '../../src/auth/license_key.ts';
import { HubError } from '../../src/errors.ts';
import { type KeptLicense, License } from '../../src/operation/license.ts';
import { openApi } from '../api/open_api.ts';
import { openEntities } from '../entities/open_entities.ts';
import { type Issuer, openIssuer } from './license_keys.ts';
import { openTestOperation } from './open_operation.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20);
/** Seconds since 1970. */
const inDays = (days: number): number => (START + days * DAY_MS) / 1000;

let issuer: Issuer;
before(async () => {
  issuer = await openIssuer();
});

interface Given {
  readonly configuredKey?: string;
  readonly stored?: KeptLicense;
  readonly publicKeys?: readonly string[];
}

/** A license with a settable clock, and its stored state. */
async function openLicense({ configuredKey, stored = {}, publicKeys = issuer.publicKeys }: Given = {}) {
  const clock = { nowMs: START };
  const saved: KeptLicense[] = [];
  const license = await License.open({
    now: () => clock.nowMs,
    hubId: 'hub',
    configuredKey,
    stored,
    keep: async (value) => void saved.push(value),
    publicKeys,
  });
  return { license, clock, saved };
}

const refused = (code: string) => (error: unknown) => error instanceof HubError && error.code === code;

describe('verifyLicenseKey', () => {
  test('returns why a key is invalid, and never rejects', async () => {
    const stranger = await openIssuer();
    const good = await issuer.issue({ email: 'a@b.example', exp: inDays(1) });
    const rows: readonly (readonly [key: string, why: RegExp])[] = [
      ['', /JWS/],
      ['6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11', /JWS/],
      ['a.b.c', /./],
      ['.'.repeat(20_000), /20000 characters/],
      [`${good.slice(0, -8)}AAAAAAAA`, /signature/],
      [await stranger.issue({ email: 'a@b.example', exp: inDays(1) }), /signature/],
      [await (await openIssuer('other')).issue({ email: 'a@b.example', exp: inDays(1) }), /none of the 1 public keys/],
      [await issuer.issue({ email: 'a@b.example' }), /claims.exp: is required/],
      [await issuer.issue({ email: 'a@b.example', exp: 'tomorrow' }), /claims.exp: must be a number, found "tomorrow"/],
      [await issuer.issue({ email: 'a@b.example', exp: 1e300 }), /claims.exp/],
      [await issuer.issue([]), /claims|body/],
      [await issuer.issue({ email: 'a@b.example', exp: inDays(1), hub_instance_id: 'another' }), /for the hub another/],
    ];
    for (const [key, why] of rows) {
      const found = await verifyLicenseKey(key, { publicKeys: issuer.publicKeys, hubId: 'hub' });
      assert.ok(typeof found === 'string', key);
      assert.match(found, why);
    }
  });

  test('rejects a key without a signature, regardless of its header', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ email: 'a@b.example', exp: inDays(1) });
    for (const alg of ['none', 'HS256']) {
      const found = await verifyLicenseKey(`${part({ alg, kid: 'test' })}.${claims}.`, {
        publicKeys: issuer.publicKeys,
        hubId: 'hub',
      });
      assert.equal(typeof found, 'string');
    }
  });

  test('accepts a key of each of several issuers, regardless of its key id', async () => {
    const issuers = [await openIssuer(), await openIssuer(), await openIssuer('other')];
    const publicKeys = issuers.flatMap((each) => each.publicKeys);
    for (const each of issuers) {
      const key = await each.issue({ email: 'a@b.example', exp: inDays(1) });
      assert.equal(typeof (await verifyLicenseKey(key, { publicKeys, hubId: 'hub' })), 'object');
      assert.match(String(await verifyLicenseKey(key, { publicKeys: [], hubId: 'hub' })), /none of the 0 public keys/);
    }
  });
});

describe('License', () => {
  test('is optional: without a key there is no lease, and info reports that', async () => {
    const { license } = await openLicense();
    assert.deepEqual(license.info(), { state: 'none', info: 'No license key is set; the hub needs none.' });
    assert.match(license.info().info, /needs none/);
    assert.throws(() => license.lease(), refused('HUB_LICENSE_NOT_STARTED'));
  });

  test('shows the lease of a valid key', async () => {
    const more = { development_info: 'for tests', map_source: 'tiles', send_report: true };
    const key = await issuer.issue({ email: 'a@b.example', exp: inDays(100), grace_exp: inDays(110), ...more });
    const { license } = await openLicense({ configuredKey: key });
    assert.deepEqual(license.lease(), {
      hub_instance_id: 'hub',
      customer_email: 'a@b.example',
      lease_end_timestamp: '2027-02-28T00:00:00.000Z',
      grace_period_timestamp: '2027-03-10T00:00:00.000Z',
      signature: key.split('.')[2],
      is_trial: false,
      trial_end_timestamp: null,
      ...more,
    });
    const { info, warning, development_info } = license.info();
    assert.match(info, /valid until 2027-02-28/);
    assert.deepEqual([warning, development_info], [undefined, 'for tests']);
  });

  test('warns before the end, tolerates the grace period, and then has expired', async () => {
    const key = await issuer.issue({ email: 'a@b.example', exp: inDays(100), grace_exp: inDays(110) });
    const { license, clock } = await openLicense({ configuredKey: key });
    const rows: readonly (readonly [days: number, warning: RegExp | undefined, expired: boolean])[] = [
      [85, undefined, false],
      [87, /expires on 2027-02-28/, false],
      [105, /grace period ends on 2027-03-10/, false],
      [110, /expired on 2027-02-28/, true],
    ];
    for (const [days, warning, expired] of rows) {
      clock.nowMs = START + days * DAY_MS;
      if (warning === undefined) assert.equal(license.info().warning, undefined);
      else assert.match(license.info().warning ?? '', warning);
      if (expired) assert.throws(() => license.lease(), refused('HUB_LICENSE_EXPIRED'));
      else assert.equal(license.lease().lease_warning, license.info().warning);
    }
  });

  test('warns of a key that cannot be verified', async () => {
    const { license } = await openLicense({ configuredKey: 'garbage' });
    assert.match(license.info().warning ?? '', /does not verify/);
    assert.throws(() => license.lease(), refused('HUB_LICENSE_INVALID'));
  });

  test('reports a license that is not valid yet', async () => {
    const key = await issuer.issue({ email: 'a@b.example', exp: inDays(100), nbf: inDays(10) });
    const { license } = await openLicense({ configuredKey: key });
    assert.match(license.info().info, /begins on 2026-11-30/);
  });

  test('prefers a key set by API, stores it, and returns it', async () => {
    const configuredKey = await issuer.issue({ email: 'configured', exp: inDays(100) });
    const key = await issuer.issue({ email: 'set', exp: inDays(100) });
    const { license, saved } = await openLicense({ configuredKey });
    await license.setKey({ license_key: key });
    assert.equal(license.lease().customer_email, 'set');
    assert.deepEqual(saved, [{ key }]);
    assert.equal(
      (await openLicense({ configuredKey, stored: saved[0] as KeptLicense })).license.lease().customer_email,
      'set',
    );
    await license.giveBack();
    assert.equal(license.lease().customer_email, 'configured');
    assert.deepEqual(saved, [{ key }, {}]);
  });

  test('stores any string as a key while it has no public key, and verifies it once it has', async () => {
    const { license, saved } = await openLicense({ publicKeys: [] });
    for (const key of ['6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11', ' ', 'é'.repeat(16_384)]) {
      await license.setKey({ license_key: key });
      assert.deepEqual(saved.at(-1), { key });
      assert.equal(license.info().warning, 'Nothing can verify the license key while license_public_keys is empty.');
      assert.throws(() => license.lease(), refused('HUB_LICENSE_INVALID'));
    }
    const before = saved.length;
    for (const license_key of ['', 'x'.repeat(16_385), 7, null]) {
      await assert.rejects(license.setKey({ license_key }), refused('HUB_BAD_REQUEST'));
    }
    assert.equal(saved.length, before);
    const lease = await license.startTrial();
    assert.deepEqual(license.lease(), lease);
    const stored = saved[0] as KeptLicense;
    const later = await openLicense({ stored });
    assert.match(later.license.info().warning ?? '', /does not verify/);
    assert.match((await openLicense({ stored, publicKeys: [] })).license.info().warning ?? '', /^Nothing can verify/);
  });

  test('keeps its key if the next one cannot be verified', async () => {
    const key = await issuer.issue({ email: 'first', exp: inDays(100) });
    const { license, saved } = await openLicense();
    await license.setKey({ license_key: key });
    await assert.rejects(license.setKey({ license_key: `${key}x` }), refused('HUB_LICENSE_INVALID'));
    for (const body of [undefined, 7, {}, { license_key: '' }, { license_key: 7 }]) {
      await assert.rejects(license.setKey(body), refused('HUB_BAD_REQUEST'));
    }
    assert.equal(license.lease().customer_email, 'first');
    assert.equal(saved.length, 1);
  });

  test('has a trial of 30 days that starts once', async () => {
    const { license, clock, saved } = await openLicense();
    const lease = await license.startTrial();
    assert.deepEqual([lease.is_trial, lease.trial_end_timestamp], [true, '2026-12-20T00:00:00.000Z']);
    clock.nowMs += DAY_MS;
    assert.deepEqual(await license.startTrial(), lease);
    assert.deepEqual(license.lease(), lease);
    assert.match(license.info().trial_info ?? '', /ends on 2026-12-20/);
    assert.deepEqual(saved, [{ trialStartMs: START }]);
    clock.nowMs = START + 30 * DAY_MS;
    assert.throws(() => license.lease(), refused('HUB_LICENSE_EXPIRED'));
    await assert.rejects(license.startTrial(), refused('HUB_LICENSE_EXPIRED'));
    assert.match(license.info().trial_info ?? '', /ended on/);
  });

  test('loses nothing when a key is set while a trial starts', async () => {
    const key = await issuer.issue({ email: 'set', exp: inDays(100) });
    const { license, saved } = await openLicense();
    const set = () => license.setKey({ license_key: key });
    await Promise.all([set(), license.startTrial(), set(), license.startTrial()]);
    assert.deepEqual(saved.at(-1), { key, trialStartMs: START });
  });
});

describe('the license endpoints', () => {
  async function open() {
    const { license, clock } = await openLicense();
    const { operation } = openTestOperation(openEntities());
    return { clock, ...openApi({ operation: { ...operation, license } }) };
  }

  test('respond with their statuses, and errors with their types', async () => {
    const { send, clock } = await open();
    const key = await issuer.issue({ email: 'a@b.example', exp: inDays(1) });
    const rows: readonly (readonly [
      method: string,
      path: string,
      status: number,
      type?: string | undefined,
      body?: unknown,
    ])[] = [
      ['GET', '/license/info', 200],
      ['GET', '/license/lease', 404, 'com.flowcate.license.not_started'],
      ['PUT', '/license/key', 400, 'com.flowcate.license.invalid', { license_key: 'garbage' }],
      ['PUT', '/license/key', 400, 'com.flowcate.http.bad_request', {}],
      ['PUT', '/license/key', 204, undefined, { license_key: key }],
      ['GET', '/license/lease', 200],
      ['DELETE', '/license/lease', 204],
      ['GET', '/license/lease', 404, 'com.flowcate.license.not_started'],
      ['GET', '/license/starttrial', 201],
      ['GET', '/license/lease', 200],
      ['PUT', '/license/key', 204, undefined, { license_key: key }],
    ];
    for (const version of ['/v1', '/hub/v2']) {
      for (const [method, path, wanted, type, sent] of rows) {
        const { status, body } = await send(method, version + path, sent);
        assert.equal(status, wanted, `${method} ${path}: ${JSON.stringify(body)}`);
        if (type === undefined) continue;
        const shown = version === '/v1' ? (wanted === 404 ? 'not found' : 'bad request') : type;
        assert.deepEqual([body.type, body.code], [shown, wanted]);
      }
      await send('DELETE', `${version}/license/lease`);
    }
    await send('PUT', '/v2/license/key', { license_key: key });
    clock.nowMs += DAY_MS;
    const { status, body } = await send('GET', '/v2/license/lease');
    assert.deepEqual([status, body.type], [400, 'com.flowcate.license.expired']);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warnOfClusterExposure, warnOfExposure, warnOfMqttPassword } from '../../src/hub/exposure.ts';
import { testNats } from '../cluster/test_nats.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const OPEN = { require_authorization: false, public_key_path: null, force_https: false };
const TLS = { public_key_path: 'certificate.pem', force_https: true };

const ROWS: readonly (readonly [host: string, settings: object, warning: RegExp | undefined])[] = [
  ['127.0.0.1', {}, undefined],
  ['127.0.0.53', {}, undefined],
  ['::1', {}, undefined],
  ['localhost', {}, undefined],
  ['0.0.0.0', {}, /anyone can read and change everything/],
  ['::', {}, /anyone can read and change everything/],
  ['192.0.2.1', {}, /anyone can read and change everything/],
  ['hub.example', TLS, /anyone can read and change everything/],
  ['127.0.0.1.example', {}, /anyone can read and change everything/],
  ['0.0.0.0', { require_authorization: true }, /without TLS/],
  ['0.0.0.0', { require_authorization: true, ...TLS, force_https: false }, /without TLS/],
  ['0.0.0.0', { require_authorization: true, ...TLS }, undefined],
];

function warnings(settings: Parameters<typeof warnOfExposure>[0]): string[] {
  const said: string[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void said.push(message) };
  warnOfExposure(settings, log);
  return said;
}

describe('warnOfExposure', () => {
  for (const [host, settings, warning] of ROWS) {
    it(`${warning === undefined ? 'logs nothing' : 'warns'} on ${host} with ${JSON.stringify(settings)}`, () => {
      const said = warnings({ host, ...OPEN, ...settings });
      assert.equal(said.length, warning === undefined ? 0 : 1);
      if (warning !== undefined) assert.match(said[0] ?? '', warning);
    });
  }
});

const NO_CLUSTER = {
  cluster_servers: [],
  cluster_credentials_path: null,
  cluster_nkey_path: null,
  cluster_username: null,
  cluster_tls_ca_path: null,
  cluster_tls_certificate_path: null,
};
const [PLAIN, ENCRYPTED] = [['nats://nats-1.example:4222'], ['tls://nats-1.example:4222']];

const CLUSTERS: readonly (readonly [settings: object, warned: readonly RegExp[]])[] = [
  [{}, []],
  [{ cluster_servers: ['nats://127.0.0.1:4222', 'nats://localhost:4223', 'nats://[::1]:4224'] }, []],
  [{ cluster_servers: PLAIN }, [/without TLS/, /without credentials/]],
  [{ cluster_servers: ['nats://127.0.0.1:4222', ...PLAIN] }, [/without TLS/, /without credentials/]],
  [{ cluster_servers: PLAIN, cluster_username: 'hub' }, [/without TLS/]],
  [{ cluster_servers: ENCRYPTED }, [/without credentials/]],
  [{ cluster_servers: PLAIN, cluster_tls_ca_path: 'ca.pem' }, [/without credentials/]],
  [{ cluster_servers: PLAIN, cluster_tls_certificate_path: 'hub.pem' }, []],
  [{ cluster_servers: ENCRYPTED, cluster_nkey_path: 'seed' }, []],
  [{ cluster_servers: ENCRYPTED, cluster_credentials_path: 'hub.creds' }, []],
];

describe('warnOfClusterExposure', () => {
  for (const [settings, warned] of CLUSTERS) {
    it(`warns ${warned.length} times with ${JSON.stringify(settings)}`, () => {
      const said: string[] = [];
      const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void said.push(message) };
      warnOfClusterExposure({ ...NO_CLUSTER, ...settings }, log);
      assert.equal(said.length, warned.length, said.join('\n'));
      for (const [i, pattern] of warned.entries()) assert.match(said[i] ?? '', pattern);
    });
  }
});

const MQTT = { mqtt_address: 'broker.example', mqtt_password: 'secret', mqtt_tls: false };
const MQTT_ROWS: readonly (readonly [settings: object, isWarned: boolean])[] = [
  [{}, true],
  [{ mqtt_address: '192.0.2.1' }, true],
  [{ mqtt_tls: true }, false],
  [{ mqtt_password: null }, false],
  [{ mqtt_address: null }, false],
  [{ mqtt_address: 'localhost' }, false],
  [{ mqtt_address: '127.0.0.1' }, false],
];

describe('warnOfMqttPassword', () => {
  for (const [settings, isWarned] of MQTT_ROWS) {
    it(`${isWarned ? 'warns' : 'logs nothing'} with ${JSON.stringify(settings)}`, () => {
      const said: string[] = [];
      const warn = (message: string, facts: object = {}): void => void said.push(`${message} ${JSON.stringify(facts)}`);
      warnOfMqttPassword({ ...MQTT, ...settings }, { debug() {}, info() {}, error() {}, warn });
      assert.equal(said.length, isWarned ? 1 : 0);
      assert.ok(said.every((line) => /sent without TLS/.test(line) && !line.includes('secret')));
    });
  }
});

const nats = await testNats();

describe('a hub', () => {
  it('warns at startup of NATS without TLS and credentials, and of an MQTT password without TLS', {
    skip: nats.skip,
  }, async () => {
    // No messages are sent to these machines: their names have no addresses.
    const settings = {
      ...{ cluster_servers: [...nats.servers.addresses, 'nats://nats.invalid:4222'].join(), cluster_replicas: 1 },
      ...{ mqtt_address: 'broker.invalid', mqtt_user: 'hub', mqtt_password: 'secret' },
    };
    const hub = await HubProcess.start(temporaryFolder(), settings);
    await hub.logged('The password for the MQTT broker is sent without TLS');
    assert.match(hub.log, /"level":40[^\n]*"msg":"The hub reaches NATS without TLS/);
    assert.match(hub.log, /"level":40[^\n]*"msg":"The hub signs in to NATS without credentials/);
    assert.ok(!hub.log.includes('secret'));
    await hub.crash();
  });

  it('logs no warning if it listens on this machine only', async (t) => {
    const hub = await openTestHub();
    t.after(hub.close);
    assert.deepEqual(hub.logged, []);
  });

  it('warns when others can access it without authorization', async (t) => {
    const hub = await openTestHub({ host: '0.0.0.0' });
    t.after(hub.close);
    assert.deepEqual(
      hub.logged.map(({ level }) => level),
      ['warn'],
    );
  });
});

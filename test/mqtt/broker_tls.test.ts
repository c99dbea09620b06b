import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type BrokerSettings, connectBroker } from '../../src/mqtt/broker_connection.ts';
import type { BrokerTls } from '../../src/mqtt/broker_tls.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { until } from './mqtt_client.ts';

const skip = (await whyNo('mosquitto')) ?? false;
const DAY_MS = 86_400_000;

describe('A broker that requires certificates', { skip }, () => {
  const folder = temporaryFolder();
  let broker: Broker;
  let good: BrokerTls;
  const paths = new Map<string, ReturnType<typeof writeCertificate>>();
  const pathsOf = (name: string) => paths.get(name) ?? assert.fail(name);

  before(async () => {
    for (const [name, host, untilMs] of [
      ['broker', 'broker.example'],
      ['hub', 'hub'],
      ['stranger', 'stranger'],
      ['expired', 'localhost', Date.now() - DAY_MS],
    ] as const) {
      const own = join(folder, name);
      mkdirSync(own);
      paths.set(name, writeCertificate(own, await makeCertificate(host, untilMs)));
    }
    broker = await Broker.start('mosquitto', { lines: ['allow_anonymous true'], ofListeners: listenerWith('broker') });
    const hub = pathsOf('hub');
    good = {
      ...{ caPath: pathsOf('broker').certificatePath, certPath: hub.certificatePath, keyPath: hub.keyPath },
      isVerified: true,
    };
  });
  after(async () => {
    await broker.close();
  });

  const listenerWith = (name: string) => [
    `certfile ${pathsOf(name).certificatePath}`,
    `keyfile ${pathsOf(name).keyPath}`,
    `cafile ${pathsOf('hub').certificatePath}`,
    'require_certificate true',
  ];

  /** Result of one attempt: `connected`, or the reason of the failure. */
  async function attempt(tls: BrokerTls, settings: Partial<BrokerSettings> = {}): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const login = { clientId: 'hub', username: undefined, password: undefined };
    const connection = connectBroker(
      { protocol: 'mqtts', host: '127.0.0.1', port: broker.port, path: '/mqtt', ...login, tls, ...settings },
      {
        subscriptions: [{ filter: 'omlox/#', qos: 1, getsRetained: false, getsOwn: true }],
        keepsSession: true,
        will: { topic: 'status', payload: 'offline' },
      },
      {
        up: () => resolve('connected'),
        down: resolve,
        message: () => undefined,
        room: () => undefined,
        notice: (text) => assert.fail(text),
      },
    );
    const end = await promise;
    await connection.end();
    return end;
  }

  test('accepts the hub with valid certificates', async () => {
    assert.equal(await attempt(good), 'connected');
    assert.equal(await attempt(good, { protocol: 'wss', port: broker.webSocketPort }), 'connected');
  });

  test('is not verified with mqtt_verify_peer: false', async () => {
    const caPath = pathsOf('stranger').certificatePath;
    assert.equal(await attempt({ ...good, caPath, isVerified: false }), 'connected');
  });

  const WRONG: readonly [name: string, wrong: () => Partial<BrokerTls>, expected: RegExp][] = [
    [
      'a CA that is another',
      () => ({ caPath: pathsOf('stranger').certificatePath }),
      /^mqtt_ca_cert: \/.*\/stranger\/certificate.pem does not vouch for the certificate of the broker \(.*self-signed/,
    ],
    [
      'no CA for a certificate that the machine does not trust',
      () => ({ caPath: undefined }),
      /^mqtt_ca_cert: not set, and the machine does not vouch for the certificate of the broker/,
    ],
    [
      'a CA that is not there',
      () => ({ caPath: join(folder, 'none.pem') }),
      /^mqtt_ca_cert: cannot read \/.*\/none.pem: ENOENT/,
    ],
    [
      'a CA that is no certificate',
      () => ({ caPath: pathsOf('broker').keyPath }),
      /^mqtt_ca_cert: must be a certificate in PEM, found \/.*\/broker\/key.pem \(/,
    ],
    [
      'no certificate of its own',
      () => ({ certPath: undefined, keyPath: undefined }),
      /^mqtt_client_cert: not set, but the broker asks for one \(/,
    ],
    [
      'a certificate that the broker does not trust',
      () => ({ certPath: pathsOf('stranger').certificatePath, keyPath: pathsOf('stranger').keyPath }),
      /^mqtt_client_cert: the broker refuses \/.*\/stranger\/certificate.pem \(/,
    ],
    [
      'a key of another certificate',
      () => ({ keyPath: pathsOf('stranger').keyPath }),
      /^mqtt_client_key: must be the key of mqtt_client_cert \(\/.*\/hub\/certificate.pem\), found \/.*\/stranger\/key.pem$/,
    ],
    [
      'an invalid key',
      () => ({ keyPath: pathsOf('hub').certificatePath }),
      /^mqtt_client_key: must be a private key in PEM, found \/.*\/hub\/certificate.pem \(/,
    ],
  ];
  for (const [name, wrong, expected] of WRONG) {
    test(`is not connected with ${name}, and the error names the setting`, async () => {
      assert.match(await attempt({ ...good, ...wrong() }), expected);
    });
  }

  test('is not connected by WebSocket without them either', async () => {
    const wss = { protocol: 'wss', port: broker.webSocketPort } as const;
    assert.match(await attempt({ ...good, caPath: pathsOf('stranger').certificatePath }, wss), /^mqtt_ca_cert: /);
    assert.match(await attempt({ ...good, certPath: undefined, keyPath: undefined }, wss), /^mqtt_client_cert: /);
  });

  test('is not connected under a name that is not in its certificate', async () => {
    const expected = /^mqtt_address: the certificate of the broker is for others \(.*localhost/;
    assert.match(await attempt(good, { host: 'localhost' }), expected);
  });

  test('is not connected after its certificate has expired', async (t) => {
    const late = await Broker.start('mosquitto', { ofListeners: listenerWith('expired') });
    t.after(() => late.close());
    const caPath = pathsOf('expired').certificatePath;
    assert.match(
      await attempt({ ...good, caPath }, { port: late.port }),
      /^the certificate of the broker is not valid now \(/,
    );
  });

  test('is not connected by TLS if the other side does not use it', async (t) => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    assert.match(
      await attempt(good, { port }),
      /^mqtt_tls: what answers there does not speak TLS as the hub does \(wrong version number\)$/,
    );
  });

  test('is connected after a file of the hub was replaced; until then the hub keeps running, and warns once', async (t) => {
    const caPath = join(folder, 'ca.pem');
    writeFileSync(caPath, 'nothing');
    const hub = await openTestHub({
      mqtt_address: '127.0.0.1',
      mqtt_port: broker.port,
      mqtt_tls: true,
      mqtt_ca_cert: caPath,
      mqtt_client_cert: good.certPath as string,
      mqtt_client_key: good.keyPath as string,
    });
    t.after(hub.close);
    const health = async () => (await hub.get('/health/mqtt')).body;
    await until(
      async () => (await health()).problem?.startsWith('mqtt_ca_cert: must be a certificate in PEM') === true,
    );
    copyFileSync(pathsOf('stranger').certificatePath, caPath);
    await until(async () => / does not vouch for /.test((await health()).problem));
    assert.equal((await hub.get('/zones')).status, 200);
    copyFileSync(pathsOf('broker').certificatePath, caPath);
    await connected(hub);
    const warnings = hub.logged.filter(({ message }) => message === 'The MQTT broker cannot be reached');
    assert.equal(warnings.length, 2, JSON.stringify(warnings));
  });
});

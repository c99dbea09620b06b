import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { publicationsOf } from '../../src/config/mqtt.ts';
import { mqttSettings } from '../../src/config/settings.ts';
import { PUBLICATION_NAMES } from '../../src/model/mqtt.ts';
import { load } from './given.ts';

const WRONG: readonly [name: string, file: string, expected: RegExp][] = [
  [
    'a password without a user',
    'mqtt_address: b\nmqtt_password: x',
    /^mqtt_password: needs mqtt_user, which is not set$/,
  ],
  ['a certificate without its key', 'mqtt_tls: true\nmqtt_client_cert: a', /^mqtt_client_cert: needs mqtt_client_key/],
  ['a certificate without TLS', 'mqtt_ca_cert: ca.pem', /^mqtt_ca_cert: needs mqtt_tls: true$/],
  ['an invalid protocol', 'mqtt_protocol: amqp', /^hub_config.yaml:1: mqtt_protocol: must be .*found "amqp"$/],
  ['publications that are not a list', 'mqtt_publish: {}', /^hub_config.yaml:1: mqtt_publish: must be a list of names/],
  [
    'an unknown publication',
    'mqtt_publish: [fence_event]',
    /mqtt_publish\[0\]: must be one of .* "fence_event"; did you mean/,
  ],
  ['a duplicate one', 'mqtt_publish: [fence_events, fence_events]', /mqtt_publish\[1\]: must be there once/],
  ['one without a topic', 'mqtt_publish: [{min_interval: 5}]', /mqtt_publish\[0\].topic: is required, but is missing$/],
  [
    'an invalid interval',
    'mqtt_publish: [{topic: fence_events, min_interval: soon}]',
    /mqtt_publish\[0\].min_interval: must be an integer from 0 to 86400000, found "soon"$/,
  ],
  ['another member', 'mqtt_publish: [{topic: fence_events, qos: 2}]', /mqtt_publish\[0\].qos: is no setting/],
  ['a share that is no level', 'mqtt_share: a/b', /^mqtt_share: must have no spaces, "\/", "\+" or "#", found "a\/b"$/],
  [
    'a share in a cluster',
    'mqtt_share: plant\ncluster_servers: nats://n:4222',
    /^mqtt_share: must not be set in a cluster, where one hub has a subscription for all$/,
  ],
  ['topics of no source', 'mqtt_subscriptions: ["a/#"]', /^mqtt_subscriptions\[0\]: must be a topic .* found "a\/#"$/],
  [
    'a wildcard in a level',
    'mqtt_subscriptions: ["location_updates/pub/a#"]',
    /^mqtt_subscriptions\[0\]: must be a topic filter/,
  ],
  [
    'topics that overlap',
    'mqtt_subscriptions: ["location_updates/pub/hall/#", "location_updates/pub/+"]',
    /^mqtt_subscriptions\[1\]: must have no topic in common with another one, found/,
  ],
  [
    'Home Assistant without a broker',
    'mqtt_address: null\nmqtt_home_assistant: true',
    /^mqtt_home_assistant: needs mqtt_address, which is not set$/,
  ],
  [
    'a discovery prefix with a wildcard',
    'mqtt_home_assistant_prefix: ha/+',
    /^mqtt_home_assistant_prefix: must have no "\+" or "#".* found "ha\/\+"$/,
  ],
  ['a root with a wildcard', 'uns_root: plant/#', /^uns_root: must have no "\+" or "#".* found "plant\/#"$/],
];

describe('loadConfig rejects', () => {
  for (const [name, file, expected] of WRONG) {
    test(name, () => assert.throws(() => load({ file }), { message: expected }));
  }
});

const settingsOf = (file: string) =>
  mqttSettings(load({ file }), { hubId: 'id', hubName: /cluster_servers/.test(file) ? 'a' : undefined });

describe('mqttSettings()', () => {
  test('has no MQTT without an address', () => assert.equal(settingsOf(''), undefined));

  test('publishes everything by default', () => {
    const all = settingsOf('mqtt_address: b')?.wanted ?? [];
    assert.deepEqual(
      all.map(({ publication }) => publication),
      PUBLICATION_NAMES,
    );
    const some = load({ file: 'mqtt_publish: [fence_events, {topic: trackable_motions/local, min_interval: 500}]' });
    assert.deepEqual(publicationsOf(some.mqtt_publish), [
      { publication: 'fence_events', minIntervalMs: 0 },
      { publication: 'trackable_motions/local', minIntervalMs: 500 },
    ]);
    const words = load({ env: { HUB_MQTT_PUBLISH: 'fence_events, collision_events' } });
    assert.deepEqual(words.mqtt_publish, ['fence_events', 'collision_events']);
  });

  test('has a fixed client id for a single hub, and a distinct one for each of several', () => {
    const clientOf = (more: string) => settingsOf(`mqtt_address: b\n${more}`)?.broker.clientId;
    assert.equal(clientOf(''), 'omlox-hub-id');
    assert.equal(clientOf('mqtt_client_id: mine'), 'mine');
    assert.equal(clientOf('mqtt_client_id: mine\ncluster_servers: nats://n:4222'), 'mine-id-a');
  });

  test('has one client id for the subscriptions of all hubs of a cluster', () => {
    const { sharedClientId, share } = settingsOf('mqtt_address: b\ncluster_servers: nats://n:4222') ?? {};
    assert.deepEqual([sharedClientId, share], ['omlox-hub-id', undefined]);
  });

  test('shares its subscriptions with hubs outside a cluster on request', () => {
    const shareOf = (more: string) => settingsOf(`mqtt_address: b\n${more}`)?.share;
    assert.equal(shareOf(''), undefined);
    assert.equal(shareOf('mqtt_share: plant'), 'plant');
  });

  test('subscribes to the configured topics', () => {
    const topics = ['location_updates/pub/hall/#', 'location_updates/pub/+', 'proximity_updates/#'];
    const read = settingsOf(`mqtt_address: b\nmqtt_subscriptions: ${JSON.stringify(topics.slice(1))}`);
    assert.deepEqual(read?.subscriptions, topics.slice(1));
    assert.deepEqual(settingsOf('mqtt_address: b')?.subscriptions, []);
  });

  test('resolves paths of certificates relative to hub_config.yaml', () => {
    const file =
      'mqtt_address: b\nmqtt_tls: true\nmqtt_ca_cert: ca.pem\nmqtt_client_cert: /c.pem\nmqtt_client_key: /k.pem';
    const { protocol, tls } = settingsOf(`${file}\nmqtt_protocol: ws\nmqtt_verify_peer: false`)?.broker ?? {};
    assert.match(tls?.caPath ?? '', /^\/.*\/ca\.pem$/);
    assert.deepEqual([protocol, tls?.certPath, tls?.keyPath, tls?.isVerified], ['wss', '/c.pem', '/k.pem', false]);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PUBLICATION_NAMES, type Publication, TOPIC_STYLES, type TopicStyle } from '../../src/model/mqtt.ts';
import type { FilterFields } from '../../src/model/topics.ts';
import { describeMqtt } from '../../src/mqtt/docs/async_api.ts';
import { availableTopics, requestTopic, responseTopic, rpcFilters } from '../../src/mqtt/rpc_topics.ts';
import { levelOf, readInbound, sourceFilters, statusTopics, topicsOf } from '../../src/mqtt/topics.ts';
import { unsTopic } from '../../src/mqtt/uns.ts';
import { asyncApiDocument } from '../../src/socket/docs/async_api.ts';
import { type AsyncApi, asyncApiChecker, topicsIn } from '../contract/async_api.ts';

const BROKER = {
  protocol: 'mqtts',
  host: 'fd00::5',
  port: 8883,
  path: '/mqtt',
  clientId: 'omlox-hub-1',
  username: 'somebody',
  password: 'a secret',
  tls: { caPath: undefined, certPath: '/secret/cert.pem', keyPath: '/secret/key.pem', isVerified: true },
} as const;
const READER = { version: 'v2', prefix: '' };
const ALL = PUBLICATION_NAMES.map((publication) => ({ publication }));

function documentOf(
  style: TopicStyle,
  more: {
    broker?: object;
    wanted?: readonly { publication: Publication }[];
    isKnown?: boolean;
    homeAssistant?: { prefix: string; ownerId: string };
  } = {},
) {
  const broker = { ...BROKER, ...more.broker };
  const settings = {
    broker,
    style,
    wanted: more.wanted ?? ALL,
    uns: { root: 'plant', levelsMax: 32, bytesMax: 1024 },
    hubId: 'hub/1',
    homeAssistant: more.homeAssistant,
    isKnown: more.isKnown ?? true,
  };
  return asyncApiDocument('1.0.0', READER, (components) => describeMqtt(settings, components)) as unknown as AsyncApi;
}

const isRpc = ({ address }: { address: string }) => /^\/?omlox\/jsonrpc\//.test(address);

/** Events of each kind, by the fields that name their topics. */
const FIELDS = (publication: Publication): readonly FilterFields[] => {
  if (publication === 'fence_events') {
    return [
      ['f/1', 'foreign', 'tag', 'cart', 'region_entry', 'trackable'],
      ['f', undefined, 'tag', undefined, 'region_exit', 'location_provider'],
    ];
  }
  if (publication === 'collision_events') return [['a', 'b+c']];
  return publication.endsWith('_changes') ? ['create', 'update', 'delete'].map((type) => ['x', type]) : [['id/#']];
};

describe('the AsyncAPI document', () => {
  const problem = asyncApiChecker();

  for (const style of TOPIC_STYLES) {
    test(`has the topics that the hub publishes in the style ${style}, and no others`, () => {
      const document = documentOf(style);
      assert.equal(problem(document), undefined);
      const published = topicsIn(document).filter((topic) => topic.actions.has('send') && !isRpc(topic));
      const made = [
        ...PUBLICATION_NAMES.flatMap((name) => FIELDS(name).flatMap((fields) => topicsOf(name, fields, style))),
        ...statusTopics('hub/1', style),
        unsTopic('plant', 'hall/shelf'),
      ];
      const found = made.map(
        (topic) => [topic, published.filter(({ fits }) => fits(topic)).map(({ key }) => key)] as const,
      );
      for (const [topic, keys] of found) {
        // Fences may have any name except the placeholder of their id.
        assert.equal(keys.length, 1, `${topic}: ${keys}`);
      }
      const used = new Set(found.flatMap(([, keys]) => keys));
      assert.deepEqual(
        published.filter(({ key }) => !used.has(key)).map(({ address }) => address),
        [],
      );
    });
  }

  test('has the topics that the hub accepts, in both styles', () => {
    const taken = topicsIn(documentOf('slash')).filter((topic) => topic.actions.has('receive') && !isRpc(topic));
    const ids: Readonly<Record<string, string>> = { provider_id: 'a/b%', source: '+#' };
    const read = taken.map(({ address }) => {
      const topic = address.replaceAll(/\{(\w+)\}/g, (_, name: string) => levelOf(ids[name] as string));
      assert.equal(sourceFilters([]).filter((filter) => isMatch(filter, topic)).length, 1, topic);
      return [address.startsWith('/'), readInbound(topic)];
    });
    const all = [
      { kind: 'location', providerId: 'a/b%' },
      { kind: 'location', providerId: undefined },
      { kind: 'proximity', source: '+#', providerId: 'a/b%' },
    ];
    assert.deepEqual(
      read,
      all.flatMap((named) => [
        [true, named],
        [false, named],
      ]),
    );
  });

  test('matches the settings: topics, the address of the broker, and no secret', () => {
    const document = documentOf('plain', { wanted: [{ publication: 'fence_events' }] });
    const published = topicsIn(document).filter((topic) => topic.actions.has('send') && !isRpc(topic));
    assert.deepEqual(
      published.map(({ address }) => address),
      [
        'omlox/json/fence_events/{fence_id}',
        'omlox/json/fence_events/trackables/{trackable_id}',
        'omlox/json/fence_events/providers/{provider_id}',
        'omlox/json/hub/hub%2F1/status',
        'plant/{uns}/sensor/wgs84',
      ],
    );
    const { broker } = document.servers;
    assert.deepEqual(broker?.['bindings'], {
      mqtt: {
        clientId: 'omlox-hub-1',
        cleanSession: false,
        lastWill: { topic: 'omlox/json/hub/hub%2F1/status', qos: 1, retain: true, message: '{"status":"offline"}' },
        keepAlive: 30,
        sessionExpiryInterval: 3600,
        maximumPacketSize: 1_048_576,
        bindingVersion: '0.2.0',
      },
    });
    assert.deepEqual([broker?.['host'], broker?.['protocol']], ['[fd00::5]:8883', 'mqtts']);
    assert.doesNotMatch(JSON.stringify(document), /secret|somebody/);
  });

  test('has the topics for Home Assistant if it discovers devices, and none otherwise', () => {
    const homeAssistant = { prefix: 'ha', ownerId: 'hub/1' };
    const document = documentOf('slash', { homeAssistant });
    assert.equal(problem(document), undefined);
    const addressesOf = (each: AsyncApi) => topicsIn(each).map(({ address }) => address);
    const others = new Set(addressesOf(documentOf('slash')));
    assert.deepEqual(
      addressesOf(document).filter((address) => !others.has(address)),
      [
        'ha/device/omlox_hub_1/trackable_{trackable_id}/config',
        'ha/device/omlox_hub_1/fence_{fence_id}/config',
        'omlox/home_assistant/omlox_hub_1/trackables/{trackable_id}/position',
        'omlox/home_assistant/omlox_hub_1/trackables/{trackable_id}/room',
        'omlox/home_assistant/omlox_hub_1/fences/{fence_id}/occupancy',
        'ha/status',
      ],
    );
  });

  test('includes QoS and retention of each published topic', () => {
    const { operations } = documentOf('slash');
    const said = (name: string) => operations[`publish.${name}`]?.bindings?.mqtt;
    const binding = (qos: number, retain: boolean) => ({ qos, retain, bindingVersion: '0.2.0' });
    assert.deepEqual(said('omlox.json.location_updates.local.provider_id'), binding(0, false));
    assert.deepEqual(said('omlox.json.fence_events.fence_id'), binding(1, false));
    assert.deepEqual(said('plant.uns.sensor.wgs84'), binding(1, true));
    assert.deepEqual(said('omlox.jsonrpc.rpc.available.method'), { ...binding(1, true), messageExpiryInterval: 120 });
  });

  for (const style of TOPIC_STYLES) {
    test(`has the topics of remote procedure calls to which the hub subscribes, and those of the style ${style}`, () => {
      const topics = topicsIn(documentOf(style)).filter(isRpc);
      const receivedAddresses = topics.filter(({ actions }) => actions.has('receive')).map(({ address }) => address);
      // Responses of the hub itself are for callers of any name.
      const filters = rpcFilters('{_caller_id}').filter((filter) => filter.includes('jsonrpc'));
      for (const filter of filters)
        assert.ok(
          receivedAddresses.some((address) => isMatch(filter, address)),
          filter,
        );
      for (const address of receivedAddresses)
        assert.ok(
          filters.some((filter) => isMatch(filter, address)),
          address,
        );
      const styles = style === 'both' ? (['slash', 'plain'] as const) : [style];
      const sent = topics.filter(({ actions }) => actions.has('send')).map(({ address }) => address);
      const made = styles.flatMap((each) => [
        ...availableTopics('{method}', each),
        requestTopic('{method}', '{handler_id}', each),
        responseTopic('{method}', '{_caller_id}', each),
      ]);
      assert.deepEqual(sent.toSorted(), made.toSorted());
    });
  }

  test('has the path of a broker that is accessed by WebSocket', () => {
    const { broker } = documentOf('slash', { broker: { protocol: 'ws', host: 'broker', tls: undefined } }).servers;
    assert.deepEqual([broker?.['host'], broker?.['pathname'], broker?.['protocol']], ['broker:8883', '/mqtt', 'ws']);
  });

  test('does not reveal the address of the broker to clients without a token', () => {
    const broker = { protocol: 'ws', host: 'secret.example', path: '/secret', tls: undefined };
    const document = documentOf('slash', { broker, isKnown: false });
    assert.equal(problem(document), undefined);
    assert.equal(document.servers.broker?.['host'], '{broker}');
    assert.doesNotMatch(JSON.stringify(document), /secret/);
  });

  test('has no MQTT without a broker', () => {
    const document = asyncApiDocument('1.0.0', READER) as unknown as AsyncApi;
    assert.equal(problem(document), undefined);
    assert.deepEqual([Object.keys(document.servers), Object.keys(document.channels)], [['hub'], ['socket', 'rpc']]);
  });
});

/** Whether a subscription to a filter receives messages of a topic. */
function isMatch(filter: string, topic: string): boolean {
  const levels = topic.split('/');
  const wanted = filter.split('/');
  const isOpen = wanted.at(-1) === '#';
  const fixed = isOpen ? wanted.slice(0, -1) : wanted;
  if (levels.length < fixed.length || (!isOpen && levels.length !== fixed.length)) return false;
  return fixed.every((level, i) => level === '+' || level === levels[i]);
}

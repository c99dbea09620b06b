import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DeliveryBatch, type EventSubscriber } from '../../src/fanout/batch.ts';
import type { FanoutListener } from '../../src/fanout/fanout.ts';
import type { FenceStay } from '../../src/mqtt/fence_stays.ts';
import { HomeAssistant } from '../../src/mqtt/home_assistant.ts';
import {
  DEVICES_MAX,
  discoveryTopic,
  levelOf,
  nodeOf,
  readDiscoveryTopic,
  roomText,
  stateTopics,
} from '../../src/mqtt/home_assistant_documents.ts';
import { checkDocument } from './home_assistant_schema.ts';

const SETTINGS = { prefix: 'homeassistant', node: nodeOf('hub'), statusTopic: '/omlox/json/hub/hub/status' };
const documentTopic = (kind: string, id: string): string => `homeassistant/device/omlox_hub/${kind}_${id}/config`;
const roomTopic = (id: string): string => `omlox/home_assistant/omlox_hub/trackables/${id}/room`;
const occupancyTopic = (id: string): string => `omlox/home_assistant/omlox_hub/fences/${id}/occupancy`;

interface World {
  readonly trackables?: readonly string[];
  readonly fences?: readonly string[];
  stays?: () => Promise<readonly FenceStay[]>;
  announces?: (id: string) => boolean;
}

/** A publisher of one hub, connected to a broker, with its published messages in order. */
async function openPublisher({ trackables = [], fences = [], stays = async () => [], announces = () => true }: World) {
  const entities = {
    trackable: new Map(trackables.map((id) => [id, { id, name: id.toUpperCase() }])),
    fence: new Map(fences.map((id) => [id, { id, name: id.toUpperCase() }])),
  };
  const published: { readonly topic: string; readonly text: string }[] = [];
  const warnings: string[] = [];
  const timers: (() => void)[] = [];
  const listeners = new Map<string, FanoutListener>();
  let subscriber: EventSubscriber | undefined;
  const publisher = new HomeAssistant(SETTINGS, {
    fanout: {
      listen(listener, { topic }) {
        listeners.set(topic, listener);
        return () => void listeners.delete(topic);
      },
      subscribe(to) {
        subscriber = to;
        return 1;
      },
      unsubscribe: () => true,
    },
    ...{ stays: () => stays(), announces: (id) => announces(id) },
    entity: (kind, id) => entities[kind].get(id),
    entities: (kind) => [...entities[kind].values()],
    publish: (topic, payload, { isRetained }) => {
      assert.equal(isRetained, true);
      published.push({ topic, text: Buffer.from(payload).toString() });
    },
    schedule(_, callback) {
      timers.push(callback);
      return () => void timers.splice(timers.indexOf(callback), 1);
    },
    warn: (message) => void warnings.push(message),
  });
  publisher.start();
  publisher.connected(true);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  const change = (kind: 'trackable' | 'fence', id: string, isThere: boolean): void => {
    if (isThere) entities[kind].set(id, { id, name: id.toUpperCase() });
    else entities[kind].delete(id);
    listeners.get(`${kind}_changes`)?.receive(DeliveryBatch.of(['{}']), [[id, 'update']], 'announced');
  };
  const cross = (fence: string, trackable: string, type: string, properties = {}): void => {
    const event = { fence_id: fence, trackable_id: trackable, event_type: type, properties };
    subscriber?.deliver(1, DeliveryBatch.of([JSON.stringify(event)]));
  };
  const take = (topic: string, text: string, isRetained = false): boolean =>
    publisher.take({ topic, payload: Buffer.from(text), isRetained, lifeMs: 0 });
  const move = (id: string): void =>
    listeners.get('trackable_motions')?.receive(DeliveryBatch.of(['{}']), [[id]], 'published');
  return {
    ...{ publisher, published, warnings, listeners, settled, change, cross, take, move },
    /** Published messages since the previous call: the last one of each topic. */
    news: () => Object.fromEntries(published.splice(0).map(({ topic, text }) => [topic, text])),
    missed: () => subscriber?.missed?.(1, 'lost'),
    due() {
      for (const callback of timers.splice(0)) callback();
    },
  };
}

describe('HomeAssistant', () => {
  test('publishes valid documents, rooms and occupancies of the stays at the start', async () => {
    const stays = async () => [['dock', 'cart', 5] as const, ['yard', 'cart', 9] as const];
    const { news } = await openPublisher({ trackables: ['cart'], fences: ['dock', 'yard'], stays });
    const found = news();
    for (const [topic, text] of Object.entries(found)) {
      if (topic.endsWith('/config')) checkDocument(topic, JSON.parse(text));
    }
    // The room is the fence that was entered last.
    assert.deepEqual(JSON.parse(found[roomTopic('cart')] ?? ''), {
      room: 'DOCK',
      fences: ['YARD', 'DOCK'],
      fence_ids: ['yard', 'dock'],
    });
    assert.equal(found[occupancyTopic('yard')], '{"occupied":"ON","trackables":1}');
    assert.equal(Object.keys(found).length, 6);
  });

  test('follows entries and exits, and ignores crossings of gates and repeated events', async () => {
    const { news, cross } = await openPublisher({ trackables: ['cart'], fences: ['dock'] });
    news();
    cross('dock', 'cart', 'region_entry', { 'hub.direction': 'left' });
    assert.deepEqual(news(), {});
    cross('dock', 'cart', 'region_entry');
    assert.deepEqual(Object.keys(news()), [roomTopic('cart'), occupancyTopic('dock')]);
    cross('dock', 'cart', 'region_entry');
    assert.deepEqual(news(), {});
    cross('dock', 'cart', 'region_exit');
    assert.match(news()[roomTopic('cart')] ?? '', /"room":"outside"/);
  });

  test('reads the stays again if fence events were lost, and after a failure', async () => {
    let stays: readonly FenceStay[] | undefined;
    const { news, cross, missed, settled, due, warnings } = await openPublisher({
      ...{ trackables: ['cart'], fences: ['dock'] },
      stays: async () => stays ?? Promise.reject(new Error('no answer')),
    });
    assert.deepEqual(
      Object.keys(news()).filter((topic) => !topic.endsWith('/config')),
      [],
    );
    assert.equal(warnings.length, 1);
    // An event that is received while the stays are read is applied after them.
    cross('dock', 'cart', 'region_exit');
    stays = [['dock', 'cart', 0]];
    due();
    await settled();
    assert.equal(news()[occupancyTopic('dock')], '{"occupied":"OFF","trackables":0}');
    missed();
    await settled();
    assert.equal(news()[occupancyTopic('dock')], '{"occupied":"ON","trackables":1}');
  });

  test('removes all messages of a deleted trackable, and publishes no late position of it', async () => {
    const { news, change, move } = await openPublisher({ trackables: ['cart'], fences: [] });
    news();
    move('cart');
    const position = 'omlox/home_assistant/omlox_hub/trackables/cart/position';
    assert.deepEqual(Object.keys(news()), [position]);
    change('trackable', 'cart', false);
    assert.deepEqual(news(), { [documentTopic('trackable', 'cart')]: '', [position]: '', [roomTopic('cart')]: '' });
    move('cart');
    assert.deepEqual(news(), {});
  });

  test(`publishes at most ${DEVICES_MAX} trackables, and the next one when one of them is deleted`, async () => {
    const trackables = Array.from({ length: DEVICES_MAX + 2 }, (_, n) => `t${n}`);
    const { news, change, move, warnings } = await openPublisher({ trackables });
    const documents = Object.keys(news()).filter((topic) => topic.endsWith('/config'));
    assert.equal(documents.length, DEVICES_MAX);
    assert.deepEqual(warnings, ['Home Assistant does not get all entities']);
    const [next, last] = [`t${DEVICES_MAX}`, `t${DEVICES_MAX + 1}`];
    change('trackable', next, true);
    move(next);
    assert.deepEqual(news(), {});
    change('trackable', 't0', false);
    const found = news();
    assert.deepEqual([found[documentTopic('trackable', 't0')], documentTopic('trackable', next) in found], ['', true]);
    assert.equal(documentTopic('trackable', last) in found, false);
  });

  test('publishes only the last position of the time without a broker, and states when it is connected', async () => {
    const { publisher, news, move, change } = await openPublisher({ trackables: ['cart'], fences: [] });
    news();
    publisher.connected(false);
    move('cart');
    move('cart');
    change('trackable', 'lift', true);
    assert.deepEqual(news(), {});
    publisher.connected(true);
    const position = 'omlox/home_assistant/omlox_hub/trackables/cart/position';
    const topics = ['cart', 'lift'].flatMap((id) => [documentTopic('trackable', id), roomTopic(id)]);
    assert.deepEqual(Object.keys(news()).toSorted(), [...topics, position].toSorted());
    publisher.connected(false);
    publisher.connected(true);
    assert.equal(position in news(), false);
  });

  test('publishes again once after several birth messages, and not after a retained one', async () => {
    const { news, take, due } = await openPublisher({ trackables: ['cart'] });
    news();
    assert.ok(take('homeassistant/status', 'online', true));
    due();
    assert.deepEqual(news(), {});
    for (const text of ['online', 'offline', 'online']) assert.ok(take('homeassistant/status', text));
    assert.deepEqual(news(), {});
    due();
    assert.deepEqual(Object.keys(news()), [documentTopic('trackable', 'cart'), roomTopic('cart')]);
    assert.equal(take('omlox/jsonrpc/rpc/a/request', '{}'), false);
  });

  test('removes retained documents of unknown entities only', async () => {
    const { news, take } = await openPublisher({ trackables: ['cart'] });
    news();
    assert.ok(take(documentTopic('trackable', 'cart'), '{}', true));
    assert.ok(take(documentTopic('trackable', 'new'), '{}'));
    assert.equal(take(documentTopic('lamp', 'x'), '{}', true), false);
    assert.deepEqual(news(), {});
    assert.ok(take(documentTopic('trackable', 'old'), '{}', true));
    assert.equal(news()[documentTopic('trackable', 'old')], '');
  });

  test('in a cluster, one hub publishes each document, and its successor publishes it again', async () => {
    const trackables = ['a', 'b', 'c'];
    let isOwner = (hub: number, id: string): boolean => (id === 'b' ? hub === 1 : hub === 0);
    const [one, two] = await Promise.all(
      [0, 1].map((hub) => openPublisher({ trackables, announces: (id) => isOwner(hub, id) })),
    );
    const documentsOf = (news: Readonly<Record<string, string>>) =>
      Object.keys(news).filter((topic) => topic.endsWith('/config'));
    assert.deepEqual(documentsOf(one?.news() ?? {}), [
      documentTopic('trackable', 'a'),
      documentTopic('trackable', 'c'),
    ]);
    assert.deepEqual(documentsOf(two?.news() ?? {}), [documentTopic('trackable', 'b')]);
    isOwner = (hub) => hub === 1;
    two?.publisher.elect();
    assert.deepEqual(documentsOf(two?.news() ?? {}), [
      documentTopic('trackable', 'a'),
      documentTopic('trackable', 'c'),
    ]);
    two?.publisher.elect();
    assert.deepEqual(two?.news(), {});
    for (const each of [one, two]) each?.change('trackable', 'a', false);
    assert.equal(one?.news()[documentTopic('trackable', 'a')], '');
  });

  test('stops listening at its end', async () => {
    const { publisher, listeners } = await openPublisher({});
    publisher.close();
    assert.equal(listeners.size, 0);
  });
});

test('roomText() bounds names and the number of fences', () => {
  const fences = Array.from({ length: 60 }, (_, n) => ({ id: `f${n}`, name: 'x'.repeat(1000) }));
  const { room, fences: names, fence_ids: ids } = JSON.parse(roomText(fences));
  assert.deepEqual([room.length, names.length, names.at(-1), ids.length, ids.at(-1)], [200, 51, '10 more', 50, 'f59']);
});

test('Ids become levels that brokers and Home Assistant accept, and are read from topics as they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom('trackable', 'fence'), (id, kind) => {
      const topic = discoveryTopic(SETTINGS, kind, levelOf(id));
      assert.match(topic, /^homeassistant\/device\/omlox_hub\/[a-zA-Z0-9_-]+\/config$/);
      assert.match(
        stateTopics(SETTINGS, levelOf(id)).fence.occupancy,
        /^omlox\/home_assistant\/omlox_hub\/fences\/[\w-]+\/occupancy$/,
      );
      assert.deepEqual(readDiscoveryTopic(SETTINGS, topic), { kind, id });
    }),
  );
  const id = '0b680db2-b39b-45be-be77-40d7d2296cb4';
  assert.equal(discoveryTopic(SETTINGS, 'fence', levelOf(id)), documentTopic('fence', id));
});

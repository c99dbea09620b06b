import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { COLLISION_TYPES } from '../../src/model/events.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Event, Frame, SocketClient } from '../support/socket_client.ts';
import { type Document, DocumentSchemas, pointer } from './json_schema.ts';
import { BODIES, restore } from './world.ts';

const keyOf = (topic: string) => topic.replace(':', '.');

describe('the AsyncAPI document', () => {
  let hub: TestHub;
  let schemas: DocumentSchemas;
  let client: SocketClient;
  before(async () => {
    hub = await openTestHub();
    const { body } = await hub.get('/asyncapi.json');
    schemas = new DocumentSchemas(body as Document, '2020');
    client = await hub.socket();
  });
  after(() => hub.close());

  const problem = (key: string, frame: unknown) =>
    schemas.at(pointer('channels', 'socket', 'messages', key, 'payload'))(frame);

  it('describes the commands that the hub accepts, and its responses', async () => {
    for (const topic of TOPIC_NAMES) {
      const command = { event: 'subscribe', topic, params: { token: 'any' } };
      assert.equal(problem(`subscribe.${keyOf(topic)}`, command), undefined);
      const [answer] = await client.ask(command);
      assert.equal(problem('subscribed', answer), undefined, JSON.stringify(answer));
      const other = await client.ask({ ...command, params: { id: 'none', collision_type: 'colliding' } });
      const unsubscribe = { event: 'unsubscribe', subscription_id: other[0]?.subscription_id };
      assert.equal(problem('unsubscribe', unsubscribe), undefined);
      const [ended] = await client.ask(unsubscribe);
      assert.equal(problem('unsubscribed', ended), undefined, JSON.stringify(ended));
    }
    for (const bad of [{}, { event: 'subscribe', topic: 'nothing' }, { event: 'message', topic: 'fence_events' }]) {
      const [error] = await client.ask(bad);
      assert.equal(problem('error', error), undefined, JSON.stringify(error));
    }
  });

  it('describes all kinds of events of every topic', async () => {
    await restore(hub);
    await causeEvents();
    const events = client.frames.filter(({ event }) => event === 'message');
    const misfits = events.flatMap((frame: Frame) => {
      const found = problem(`event.${keyOf(frame.topic ?? '')}`, frame);
      return found === undefined ? [] : [`${JSON.stringify(frame)}: ${found}`];
    });
    assert.deepEqual(misfits, []);
    const kinds = new Map<string, Set<string>>(TOPIC_NAMES.map((topic) => [topic, new Set()]));
    for (const { topic = '', payload = [] } of events)
      for (const event of payload) kinds.get(topic)?.add(kindOf(event));
    for (const [topic, seen] of kinds) assert.deepEqual([...seen].sort(), kindsOf(topic), topic);
  });

  /**
   * Produces every kind of event on every topic: two vehicles touch inside a fence and separate, a proximity is sent,
   * and entities are created, changed and deleted.
   */
  async function causeEvents(): Promise<void> {
    const second = { type: 'omlox', location_providers: ['tag-2'], radius: 1, parent: null };
    assert.equal((await hub.post('/trackables', second)).status, 201);
    const location = BODIES['PUT /providers/{provider_id}/location']?.() as object;
    const of = (provider_id: string) => ({ ...location, provider_id });
    publish('location_updates', of('tag-1'), of('tag-2'));
    await hub.settle();
    // The pair, which collides by then, moves on.
    publish('location_updates', of('tag-1'));
    publish('proximity_updates', { source: 'reader', provider_type: 'rfid', provider_id: 'tag-3' });
    await hub.settle();
    const away = { ...location, provider_id: 'tag-2', position: { type: 'Point', coordinates: [90, 90] } };
    publish('location_updates', away);
    await hub.settle();
    await client.frame(({ payload = [] }) => payload.some((event) => kindOf(event) === 'collision_end'));
    await changeAll();
    await hub.settle();
  }

  function publish(topic: string, ...payload: object[]): void {
    const message = { event: 'message', topic, payload };
    assert.equal(problem(`message.${topic}`, message), undefined);
    client.send(message);
  }

  /** One entity of each kind is created, changed and deleted. */
  async function changeAll(): Promise<void> {
    for (const collection of ['zones', 'fences', 'providers', 'trackables', 'anchors']) {
      const made = await hub.post(`/${collection}`, BODIES[`POST /${collection}`]?.());
      assert.equal(made.status, 201, made.text);
      const path = `/${collection}/${made.body.id}`;
      const changed = await hub.request('PATCH', path, { op: 'add', path: '/properties', value: { a: 1 } });
      assert.equal(changed.status, 200, changed.text);
      assert.equal((await hub.delete(path)).status, 204);
    }
  }
});

/** Kind of an event; `one` for topics with a single kind. */
function kindOf(event: Event): string {
  return event.event_type ?? event.collision_type ?? event.features?.[0]?.properties?.event_type ?? 'one';
}

function kindsOf(topic: string): readonly string[] {
  // Alerts are deleted only when there are a thousand.
  if (topic === 'alert_changes') return ['create', 'update'];
  // They are off by default: e2e/forecasts.test.ts.
  if (topic === 'collision_forecast') return [];
  // These come from a broker.
  if (topic === 'xcmd_broadcast') return [];
  if (topic.endsWith('_changes')) return ['create', 'delete', 'update'];
  if (topic.startsWith('fence_events')) return ['region_entry', 'region_exit'];
  return topic === 'collision_events' ? [...COLLISION_TYPES].sort() : ['one'];
}

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Frame, SocketClient } from '../support/socket_client.ts';
import { type Document, DocumentSchemas, pointer } from './json_schema.ts';
import { BODIES, IDS, restore } from './world.ts';

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

  it('describes the commands that the hub takes, and its answers', async () => {
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

  it('describes the events of every topic', async () => {
    await restore(hub);
    await causeEvents();
    await hub.settle();
    const events = client.frames.filter(({ event }) => event === 'message');
    const misfits = events.flatMap((frame: Frame) => {
      const found = problem(`event.${keyOf(frame.topic ?? '')}`, frame);
      return found === undefined ? [] : [`${JSON.stringify(frame)}: ${found}`];
    });
    assert.deepEqual(misfits, []);
    const seen = new Set(events.map(({ topic }) => topic));
    // Nothing has anchors unless the hub has an endpoint for them.
    const unseen = TOPIC_NAMES.filter((topic) => !seen.has(topic) && topic !== 'anchor_changes');
    assert.deepEqual(unseen, []);
  });

  /** Something on every topic: two vehicles that touch inside a fence, a proximity, and changed entities. */
  async function causeEvents(): Promise<void> {
    const second = { type: 'omlox', location_providers: ['tag-2'], radius: 1 };
    assert.equal((await hub.post('/trackables', second)).status, 201);
    const location = BODIES['PUT /providers/{provider_id}/location']?.() as object;
    const published = ['tag-1', 'tag-2'].map((provider_id) => ({ ...location, provider_id }));
    const message = { event: 'message', topic: 'location_updates', payload: published };
    assert.equal(problem('message.location_updates', message), undefined);
    client.send(message);
    const proximity = { source: 'reader', provider_type: 'rfid', provider_id: 'tag-3' };
    const near = { event: 'message', topic: 'proximity_updates', payload: [proximity] };
    assert.equal(problem('message.proximity_updates', near), undefined);
    client.send(near);
    await hub.settle();
    assert.equal((await hub.delete(`/trackables/${IDS['trackable_id']}`)).status, 204);
  }
});

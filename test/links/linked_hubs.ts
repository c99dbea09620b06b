import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LinkState } from '../../src/model/link.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';

/** A link that a test has created. */
export interface TestLink {
  readonly id: string;
  state(): Promise<LinkState>;
  /** Resolves when the state matches. */
  until(wanted: (state: LinkState) => boolean): Promise<LinkState>;
}

/** Reached only by tests that fail. */
const WAIT_MS = 20_000;

export async function openHub(t: TestContext, settings: TestSettings = {}): Promise<TestHub> {
  const hub = await openTestHub(settings);
  t.after(hub.close);
  return hub;
}

/** Creates a link to a URL. */
export async function link(hub: TestHub, url: string, more: object = {}): Promise<TestLink> {
  const { status, body, text } = await hub.post('/links', { name: 'other', url, ...more });
  assert.equal(status, 201, text);
  return linkAt(hub, body.id as string);
}

/** A link as one hub of a cluster sees it. */
export function linkAt(hub: TestHub, id: string): TestLink {
  const state = async (): Promise<LinkState> => (await hub.get(`/links/${id}`)).body.state;
  return {
    id,
    state,
    async until(wanted) {
      const endMs = performance.now() + WAIT_MS;
      for (;;) {
        const found = await state();
        if (wanted(found)) return found;
        assert.ok(performance.now() < endMs, `The state is still ${JSON.stringify(found)}`);
      }
    },
  };
}

/** Whether a link is connected and has read the last locations since. */
export function isComplete({ status, read_at, since }: LinkState): boolean {
  return status === 'connected' && read_at != null && since != null && read_at >= since;
}

/** A location in WGS 84, at second `second` of a fixed minute. */
export function location(provider: string, second = 0, more: object = {}): object {
  return {
    position: { type: 'Point', coordinates: [8.68 + second / 10_000, 50.11] },
    source: provider,
    provider_type: 'gps',
    provider_id: provider,
    crs: 'EPSG:4326',
    timestamp_generated: `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`,
    ...more,
  };
}

export async function send(hub: TestHub, ...locations: readonly object[]): Promise<void> {
  const { status, text } = await hub.put('/providers/locations', locations);
  assert.equal(status, 204, text);
}

/** The last locations of a hub: for each provider, its position and the hubs on its way. */
export async function lastLocations(hub: TestHub): Promise<Readonly<Record<string, readonly number[]>>> {
  const { body } = await hub.get('/providers/locations');
  return Object.fromEntries(
    body.map((each: { provider_id: string; position: { coordinates: readonly number[] } }) => [
      each.provider_id,
      each.position.coordinates,
    ]),
  );
}

export async function hubId(hub: TestHub): Promise<string> {
  return (await hub.get('/version')).body.hub_id;
}

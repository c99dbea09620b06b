import type { components } from './generated.ts';

type Schemas = components['schemas'];

/** A change of an entity or of an alert. `object` is the entity after the change. */
export interface ChangeEvent<Entity> {
  readonly id: string;
  readonly event_type: 'create' | 'update' | 'delete';
  readonly object: Entity;
  readonly [member: string]: unknown;
}

/** An object in a fence: a trackable, or a provider by itself. */
export interface Membership {
  readonly fence_id: string;
  readonly trackable_id?: string;
  readonly provider_id?: string;
}

/** For each topic its events, and the elements of its state. */
export interface Topics {
  location_updates: { event: Schemas['Location']; state: Schemas['Location'] };
  trackable_motions: { event: Schemas['TrackableMotion']; state: Schemas['TrackableMotion'] };
  proximity_updates: { event: Schemas['Proximity']; state: never };
  fence_events: { event: Schemas['FenceEvent']; state: Membership };
  collision_events: { event: Schemas['CollisionEvent']; state: never };
  collision_forecast: { event: Schemas['CollisionForecast']; state: never };
  alert_changes: { event: ChangeEvent<Schemas['Alert']>; state: Schemas['Alert'] };
  zone_changes: { event: ChangeEvent<Schemas['Zone']>; state: Schemas['Zone'] };
  fence_changes: { event: ChangeEvent<Schemas['Fence']>; state: Schemas['Fence'] };
  trackable_changes: { event: ChangeEvent<Schemas['Trackable']>; state: Schemas['Trackable'] };
  provider_changes: { event: ChangeEvent<Schemas['LocationProvider']>; state: Schemas['LocationProvider'] };
}

export type Topic = keyof Topics;

/** Filters and the coordinate system of a subscription, as the AsyncAPI document of the hub describes them. */
export type SubscriptionParams = Readonly<Record<string, string | number | boolean>>;

/** Topics whose events a hub with an event log can return after a cursor. */
export const LOGGED_TOPICS: ReadonlySet<Topic> = new Set<Topic>([
  ...(['fence_events', 'collision_events', 'alert_changes', 'zone_changes'] as const),
  ...(['fence_changes', 'trackable_changes', 'provider_changes'] as const),
]);

/** Paths that return the state of a topic. Memberships of fences are read by fence. */
const STATE_PATHS: Partial<Record<Topic, string>> = {
  location_updates: '/providers/locations',
  trackable_motions: '/trackables/motions',
  alert_changes: '/alerts',
  zone_changes: '/zones/summary',
  fence_changes: '/fences/summary',
  trackable_changes: '/trackables/summary',
  provider_changes: '/providers/summary',
};

/** Parameters of a subscription that also apply to the request of its state. */
const VIEW_PARAMS = ['crs', 'zone_id'];
/** Fences whose members are read at the same time. */
const FENCES_AT_ONCE = 8;

/** Returns the parsed JSON of a path below the API's URL. Rejects for a status other than 2xx. */
export type ReadJson = (path: string) => Promise<unknown>;

/** Whether a hub can return the state of a topic. */
export function hasState(topic: Topic): boolean {
  return topic === 'fence_events' || topic in STATE_PATHS;
}

/** Reads the state of a topic. Of the filters, `fence_id` and those that name a member of the elements apply. */
export async function readState(topic: Topic, params: SubscriptionParams, read: ReadJson): Promise<readonly object[]> {
  if (topic === 'fence_events') return readMemberships(params, read);
  const query = new URLSearchParams();
  for (const name of VIEW_PARAMS) if (params[name] !== undefined) query.set(name, String(params[name]));
  const text = query.size === 0 ? '' : `?${query}`;
  const list = (await read(`${STATE_PATHS[topic]}${text}`)) as readonly Record<string, unknown>[];
  const filters = Object.entries(params).filter(([name]) => !VIEW_PARAMS.includes(name));
  return list.filter((each) => filters.every(([name, value]) => !(name in each) || each[name] === value));
}

async function readMemberships(params: SubscriptionParams, read: ReadJson): Promise<readonly Membership[]> {
  const { fence_id: only } = params;
  const ids = only === undefined ? ((await read('/fences')) as readonly string[]) : [String(only)];
  const found: Membership[] = [];
  for (let first = 0; first < ids.length; first += FENCES_AT_ONCE) {
    const some = ids.slice(first, first + FENCES_AT_ONCE).map((id) => readMembers(id, read));
    found.push(...(await Promise.all(some)).flat());
  }
  return found;
}

async function readMembers(fence: string, read: ReadJson): Promise<readonly Membership[]> {
  const path = `/fences/${encodeURIComponent(fence)}`;
  const [trackables, providers] = (await Promise.all([read(`${path}/trackables`), read(`${path}/providers`)])) as [
    readonly { readonly id: string }[],
    readonly { readonly id: string }[],
  ];
  return [
    ...trackables.map(({ id }) => ({ fence_id: fence, trackable_id: id })),
    ...providers.map(({ id }) => ({ fence_id: fence, provider_id: id })),
  ];
}

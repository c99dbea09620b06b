import { FOLLOWED } from '../../src/core/zone/following.ts';
import type { Kind, Marks, World } from './seen_world.ts';

/** An attack by a tenant: a request or a frame. */
interface Attack {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly frame?: object;
}

interface Given {
  /** Id of an object of the tenant, or of another owner if the tenant has none of the kind. */
  own(kind: Kind): string;
  /** Id of any object. */
  any(kind: Kind): string;
}

const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const patch = (path: string, body: object): Attack => ({ method: 'PATCH', path, body });
const copyOf = (path: string, from: string) => patch(path, { op: 'copy', from, path: '/properties/copied' });
const event = (more: object) => ({ event_type: 'region_entry', ...more });
const pointer = (member: string) => `/properties/${member}`;
const local = (source: string) => ({
  provider_type: 'uwb',
  source,
  crs: 'local',
  position: { type: 'Point', coordinates: [0, 0] },
});

const ATTACKS: readonly ((given: Given) => Attack)[] = [
  ({ own }) => copyOf(`/trackables/${own('trackable')}`, '/location_providers'),
  ({ own }) => copyOf(`/trackables/${own('trackable')}`, '/parent'),
  ({ own }) => copyOf(`/trackables/${own('trackable')}`, '/children'),
  ({ own }) => copyOf(`/zones/${own('zone')}`, '/position'),
  ({ own }) => copyOf(`/zones/${own('zone')}`, '/parent'),
  ({ own }) => copyOf(`/zones/${own('zone')}`, '/anchor_ids'),
  ({ own }) => copyOf(`/zones/${own('zone')}`, pointer(FOLLOWED.trackables)),
  ({ own }) => copyOf(`/zones/${own('zone')}`, pointer(FOLLOWED.providers)),
  ({ own, any }) => patch(`/trackables/${own('trackable')}`, add('/location_providers/-', any('provider'))),
  ({ own, any }) => patch(`/trackables/${own('trackable')}`, add('/parent', any('trackable'))),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add('/parent', any('trackable'))),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add('/parent', any('zone'))),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add(pointer(FOLLOWED.providers), [any('provider')])),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add(pointer(FOLLOWED.trackables), [any('trackable')])),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add('/anchor_ids', [any('anchor'), any('anchor')])),
  ({ own, any }) => patch(`/zones/${own('zone')}`, add('/foreign_id', `foreign-${any('zone')}`)),
  ({ own, any }) => patch(`/fences/${own('fence')}`, [add('/crs', 'local'), add('/zone_id', any('zone'))]),
  ({ own, any }) => patch(`/anchors/${own('anchor')}`, add('/zone_id', any('zone'))),
  ({ own }) => ({ method: 'PUT', path: `/trackables/${own('trackable')}`, body: { type: 'omlox' } }),
  ({ own }) => patch(`/zones/${own('zone')}`, add('/name', 'mine')),
  ({ own, any }) => ({
    method: 'POST',
    path: `/fences/${own('fence')}/events`,
    body: event({ provider_id: any('provider') }),
  }),
  ({ own, any }) => ({
    method: 'PUT',
    path: `/fences/${own('fence')}/events`,
    body: event({ trackable_id: any('trackable') }),
  }),
  ({ own, any }) => ({ method: 'PUT', path: `/providers/${own('provider')}/location`, body: local(any('zone')) }),
  ({ own, any }) => ({
    method: 'PUT',
    path: `/providers/${own('provider')}/proximity`,
    body: { provider_type: 'rfid', source: any('zone') },
  }),
  ({ own }) => ({
    method: 'PUT',
    path: `/zones/${own('zone')}/transform`,
    body: { position: { type: 'Point', coordinates: [0, 0] } },
  }),
  ({ own }) => ({
    method: 'POST',
    path: `/zones/${own('zone')}/fence`,
    body: { region: { type: 'Point', coordinates: [0, 0] }, radius: 1 },
  }),
  ({ any }) => subscribe('fence_events', { trackable_id: any('trackable') }),
  ({ any }) => subscribe('trackable_motions', { provider_id: any('provider') }),
  ({ own, any }) =>
    subscribe('collision_events', { collision_id_1: own('trackable'), collision_id_2: any('trackable') }),
  ({ any }) => subscribe('location_updates', { crs: 'local', zone_id: any('zone') }),
];

function subscribe(topic: string, params: object): Attack {
  return { method: '', path: '', frame: { event: 'subscribe', topic, params } };
}

/** All attacks of the first token of a world, on objects that the world has chosen. */
export function attacksOf({ tokens: [{ owned }], attacks }: World, marks: Marks): readonly Attack[] {
  return attacks.map(([a, b], n) => {
    const make = ATTACKS[n % ATTACKS.length];
    const any = (kind: Kind): string => marks.ids(kind)[b % marks.ids(kind).length] ?? '';
    const own = (kind: Kind): string => {
      const mine = owned[kind];
      return mine.length === 0 ? any(kind) : marks.id(kind, mine[a % mine.length] ?? 0);
    };
    if (make === undefined) throw new Error('There is no such attack');
    return make({ own, any });
  });
}

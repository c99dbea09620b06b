import { CommandError } from './command_error.ts';
import type { HubClient } from './hub_client.ts';

export type EntityKind = 'zones' | 'fences' | 'trackables' | 'providers';

/** An entity as a file or a program describes it; the hub checks it. */
export type Entity = Readonly<Record<string, unknown>>;

/** What became of some entities. `rejections` says why, of the first few. */
export interface Placed {
  readonly kind: EntityKind;
  created: number;
  updated: number;
  rejected: number;
  readonly rejections: string[];
}

const AT_ONCE = 8;
const REJECTIONS_SHOWN = 5;

/**
 * Creates entities in the hub. Those that exist already, by their id, are updated. An invalid one is counted and does
 * not stop the others.
 */
export async function placeEntities(client: HubClient, kind: EntityKind, entities: readonly Entity[]): Promise<Placed> {
  const placed: Placed = { kind, created: 0, updated: 0, rejected: 0, rejections: [] };
  const waiting = entities.entries();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const [index, entity] of waiting) await place(client, { index, entity, placed });
  });
  await Promise.all(workers);
  // They were answered in any order.
  placed.rejections.sort((a, b) => indexOf(a) - indexOf(b));
  return placed;
}

/** 3 of `fences[3]: 400 …`. */
function indexOf(rejection: string): number {
  return Number.parseInt(rejection.slice(rejection.indexOf('[') + 1), 10);
}

async function place(
  client: HubClient,
  { index, entity, placed }: { index: number; entity: Entity; placed: Placed },
): Promise<void> {
  const { kind } = placed;
  const posted = await client.send('POST', `/${kind}`, entity);
  refuseIfForbidden(posted.status, posted.message);
  if (posted.ok) {
    placed.created += 1;
    return;
  }
  // A taken id and an invalid entity are both 400. Whether the id is taken shows in the PUT: 404 where it is not.
  const id = entity['id'];
  const put = typeof id === 'string' ? await client.send('PUT', `/${kind}/${encodeURIComponent(id)}`, entity) : posted;
  if (put.ok) {
    placed.updated += 1;
    return;
  }
  placed.rejected += 1;
  const { status, message } = put.status === 404 ? posted : put;
  if (placed.rejections.length < REJECTIONS_SHOWN) placed.rejections.push(`${kind}[${index}]: ${status} ${message}`);
}

/** Without a permission nothing that follows would work. Throws a CommandError. */
export function refuseIfForbidden(status: number, message: string): void {
  if (status === 401 || status === 403) throw new CommandError(`The hub does not permit this: ${status} ${message}`);
}

/** `fences: 12 created, 0 updated, 1 rejected`, and a line for each of the first rejections. */
export function describePlaced({ kind, created, updated, rejected, rejections }: Placed): string {
  const counts = `${kind}: ${created} created, ${updated} updated, ${rejected} rejected`;
  return [counts, ...rejections.map((rejection) => `  ${rejection}`)].join('\n');
}

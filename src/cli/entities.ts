import { CliError } from './command_error.ts';
import type { HubClient } from './hub_client.ts';

export type PlacedKind = 'zones' | 'fences' | 'trackables' | 'providers';

/** An entity from a file or a program; the hub checks it. */
export type Entity = Readonly<Record<string, unknown>>;

/** Outcome of creating some entities. `rejections` describes the first few rejected ones. */
export interface PlacedEntities {
  readonly kind: PlacedKind;
  created: number;
  updated: number;
  rejected: number;
  readonly rejections: string[];
}

const AT_ONCE = 8;
const REJECTIONS_SHOWN = 5;

/**
 * Creates entities in the hub. Existing ones, by their id, are updated. An invalid one is counted and does not stop the
 * others.
 */
export async function placeEntities(
  client: HubClient,
  kind: PlacedKind,
  entities: readonly Entity[],
): Promise<PlacedEntities> {
  const placed: PlacedEntities = { kind, created: 0, updated: 0, rejected: 0, rejections: [] };
  const waiting = entities.entries();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const [index, entity] of waiting) await place(client, { index, entity, placed });
  });
  await Promise.all(workers);
  // Replies arrive in any order.
  placed.rejections.sort((a, b) => indexOf(a) - indexOf(b));
  return placed;
}

/** 3 of `fences[3]: 400 …`. */
function indexOf(rejection: string): number {
  return Number.parseInt(rejection.slice(rejection.indexOf('[') + 1), 10);
}

async function place(
  client: HubClient,
  { index, entity, placed }: { index: number; entity: Entity; placed: PlacedEntities },
): Promise<void> {
  const { kind } = placed;
  const posted = await client.send('POST', `/${kind}`, entity);
  refuseIfForbidden(posted.status, posted.message);
  if (posted.ok) {
    placed.created += 1;
    return;
  }
  // A taken id and an invalid entity both get 400. The PUT distinguishes them: 404 if the id is not taken.
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

/** Throws a CliError if the reply is 401 or 403: without the permission, further requests would fail as well. */
export function refuseIfForbidden(status: number, message: string): void {
  if (status === 401 || status === 403) throw new CliError(`The hub does not permit this: ${status} ${message}`);
}

/** `fences: 12 created, 0 updated, 1 rejected`, and a line for each of the first rejections. */
export function describePlaced({ kind, created, updated, rejected, rejections }: PlacedEntities): string {
  const counts = `${kind}: ${created} created, ${updated} updated, ${rejected} rejected`;
  return [counts, ...rejections.map((rejection) => `  ${rejection}`)].join('\n');
}

import { planeOnly } from '../../core/fence/fence_plane.ts';
import type { EntityWrite, Kept, StoreBatch } from '../../core/kept.ts';
import type { ShapeChecks } from '../../core/shape_checks.ts';
import { zoneTransform } from '../../core/zone/zone_transform.ts';
import { Entities, type Kind } from '../../entities/entities.ts';
import { LocatingRules, RULES_SETTING } from '../../entities/locating_rules.ts';
import type { Anchor } from '../../model/anchor.ts';
import { checker } from '../../model/check.ts';
import type { KeptFence } from '../../model/fence.ts';
import { idKey, isUnset } from '../../model/id.ts';
import { show } from '../../model/show.ts';
import { Zone } from '../../model/zone.ts';
import { keptByKind, settingWrite } from '../../store/entity_text.ts';
import { type EntityDocument, LISTS, type Listed } from './document.ts';

/** What an import does to a database. */
export interface Overlay {
  readonly batch: StoreBatch;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
}

export interface OverlayOptions {
  /** Whether entities that the document does not name are deleted. */
  readonly replace: boolean;
  readonly shapes: ShapeChecks;
  /** Told how many entities are checked. A throw ends it. */
  checked(count: number): void;
}

const AT_ONCE = 500;

const zoneSchema = checker(Zone);

/**
 * Lays a document over what a database keeps. Each of its entities is checked as the API does, among the kept ones and
 * those of the document before it. Returns the writes, or, when something does not fit, what: a line for each.
 */
export async function overlay(
  kept: Pick<Kept, 'entities'>,
  document: EntityDocument,
  { replace, shapes, checked }: OverlayOptions,
): Promise<Overlay | readonly string[]> {
  const entities = emptyEntities(shapes);
  const before = new Map(kept.entities.map((entity) => [keyOf(entity.kind, entity.id), entity]));
  const named = new Set(document.entities.map(({ kind, id }) => keyOf(kind, id)));
  const unnamed = keptByKind(replace ? [] : kept.entities.filter(({ kind, id }) => !named.has(keyOf(kind, id))));
  entities.load(unnamed);
  const problems: string[] = [];
  const listed = document.entities.map((each) => underKeptId(each, before));
  const inOrder = LISTS.flatMap(([, kind]) => parentsFirst(listed.filter((each) => each.kind === kind)));
  for (let done = 0; done < inOrder.length; done += AT_ONCE) {
    const group = inOrder.slice(done, done + AT_ONCE);
    await Promise.all(group.map((each) => add(entities, each, problems)));
    checked(Math.min(done + AT_ONCE, inOrder.length));
    // The bar moves, and Ctrl-C is heard.
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Anchors lie in zones, and zones at anchors: the first are complete last.
  for (const each of inOrder.filter(({ kind }) => kind === 'anchor')) await complete(entities, each, problems);
  const rules = await rulesOf(document, problems);
  if (problems.length > 0) return problems;
  const zonesBefore = emptyEntities(shapes);
  zonesBefore.load(keptByKind(kept.entities.filter(({ kind }) => kind === 'zone' || kind === 'anchor')));
  const left = leftBehind(unnamed.fence, { before: zonesBefore, after: entities });
  const gone = replace ? goneOf(kept, named) : [];
  const changes = inOrder.map(({ kind, id }) => writeOf(entities, kind, id));
  const writes = changes.filter((write) => before.get(keyOf(write.kind, write.id))?.text !== write.text);
  const created = writes.filter(({ kind, id }) => !before.has(keyOf(kind, id))).length;
  const counts = { created, changed: writes.length - created, unchanged: changes.length - writes.length };
  const rows = gone.flatMap(({ kind, id }) => {
    return kind === 'provider' || kind === 'trackable' ? [{ kind, id, gone: true as const }] : [];
  });
  return { batch: { entities: [...gone, ...left, ...writes, ...rules], rows }, ...counts, deleted: gone.length };
}

function emptyEntities(shapes: ShapeChecks): Entities {
  return new Entities({
    commit: async () => undefined,
    committed: () => undefined,
    newId: () => '',
    shapes,
    waitingMax: Number.POSITIVE_INFINITY,
    groupMax: AT_ONCE,
  });
}

async function add(entities: Entities, { kind, place, body }: Listed, problems: string[]): Promise<void> {
  const { zone_id: _later, ...first } = body;
  const { former_zone: former } = body as Partial<KeptFence>;
  const problem = kind === 'fence' && former !== undefined ? explainFormer(former) : undefined;
  if (problem !== undefined) {
    problems.push(`${place}.${problem}`);
    return;
  }
  try {
    await entities.create(kind, kind === 'anchor' ? first : body, { asKept: former !== undefined });
  } catch (error) {
    problems.push(`${place}.${(error as Error).message}`);
  }
}

/** A fence whose zone is gone is exported with what places it. */
function explainFormer(former: unknown): string | undefined {
  if (!zoneSchema.fits(former)) return zoneSchema.explain(former, 'former_zone');
  if (zoneTransform(former) !== undefined) return undefined;
  return `former_zone: must be a zone with local coordinates, found ${show(former)}`;
}

/** Writes of the kept fences whose zone the document takes away, or names otherwise: they stay where they are. */
function leftBehind(
  fences: readonly KeptFence[],
  { before, after }: Record<'before' | 'after', Entities>,
): EntityWrite[] {
  return fences.flatMap((fence): EntityWrite[] => {
    if (fence.crs !== 'local' || isUnset(fence.zone_id)) return [];
    const [was, is] = [before, after].map((entities) => entities.zoneBy(fence.zone_id ?? ''));
    if (was === undefined || zoneTransform(was) === undefined) return [];
    if (is !== undefined && zoneTransform(is) !== undefined) return [];
    return [{ kind: 'fence', id: fence.id, text: JSON.stringify({ ...fence, former_zone: planeOnly(was) }) }];
  });
}

async function complete(entities: Entities, { kind, id, place, body }: Listed, problems: string[]): Promise<void> {
  if (isUnset((body as Partial<Anchor>).zone_id) || !entities.has(kind, id)) return;
  try {
    await entities.replace(kind, id, body);
  } catch (error) {
    problems.push(`${place}.${(error as Error).message}`);
  }
}

async function rulesOf({ locatingRules }: EntityDocument, problems: string[]): Promise<readonly EntityWrite[]> {
  if (locatingRules === undefined) return [];
  const rules = new LocatingRules({ commit: async () => undefined, committed: () => undefined });
  try {
    return [settingWrite(RULES_SETTING, await rules.replace(locatingRules))];
  } catch (error) {
    problems.push((error as Error).message.replace(/^rules/, 'locating_rules'));
    return [];
  }
}

/** Carriers before what they carry; a ring is left as it is, and refused by the check. */
function parentsFirst(listed: readonly Listed[]): readonly Listed[] {
  const byId = new Map(listed.map((each) => [idKey(each.id), each]));
  const sorted = new Set<Listed>();
  for (const each of listed) {
    const line = new Set<Listed>();
    for (let next: Listed | undefined = each; next !== undefined && !sorted.has(next) && !line.has(next); ) {
      line.add(next);
      const parent: unknown = next.body['parent'];
      next = typeof parent === 'string' ? byId.get(idKey(parent)) : undefined;
    }
    for (const one of [...line].reverse()) sorted.add(one);
  }
  // An id that is there twice is refused by the check as well.
  return [...sorted];
}

function goneOf(kept: Pick<Kept, 'entities'>, named: ReadonlySet<string>): readonly EntityWrite[] {
  const gone = kept.entities.filter(({ kind, id }) => kind !== 'setting' && !named.has(keyOf(kind, id)));
  return gone.map(({ kind, id }) => ({ kind, id, text: undefined }));
}

/** An entity is kept under the id that it was created with. */
function underKeptId(listed: Listed, before: ReadonlyMap<string, EntityWrite>): Listed {
  const id = before.get(keyOf(listed.kind, listed.id))?.id ?? listed.id;
  return id === listed.id ? listed : { ...listed, id, body: { ...listed.body, id } };
}

function writeOf(entities: Entities, kind: Kind, id: string): EntityWrite {
  const entity = entities.get(kind, id);
  return { kind, id: entity?.id ?? id, text: JSON.stringify(entity) };
}

/** UUIDs are the same in any case. */
function keyOf(kind: string, id: string): string {
  return `${kind} ${idKey(id)}`;
}

import { HubError } from '../errors.ts';
import { problemOf, type Problem } from '../problem.ts';
import { planeOnly } from '../core/fence/fence_plane.ts';
import { fenceIn } from '../core/fence/fence_view.ts';
import { isCrs } from '../core/geo/crs.ts';
import { NotChecked, type ShapeChecks } from '../core/shape_checks.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { type InputBounds, DEFAULT_BOUNDS } from '../model/bounds.ts';
import { checker } from '../model/check.ts';
import type { StoredFence } from '../model/fence.ts';
import { Geometry } from '../model/geojson.ts';
import { idKey, isUnset } from '../model/id.ts';
import { isSame } from '../model/json_tree.ts';
import { show } from '../model/error_value_text.ts';
import type { Trackable } from '../model/trackable.ts';
import { Zone } from '../model/zone.ts';
import { type EntityBody, bodyObject, withId } from './body.ts';
import type { Change } from './change.ts';
import { checkBounds } from './check_bounds.ts';
import {
  type DefinedName,
  type EntityDocument,
  type ImportCounts,
  LISTS,
  type Listed,
  type ListName,
  type DocumentProblem,
  problemAt,
} from './import_document.ts';
import type { EntityMap, EntityKindName, EntityLookup } from './entity_lookup.ts';
import { type MergedMemberChange, memberChanges, merge, shownAt } from './merge.ts';
import { carriedAlong } from './moved_zones.ts';
import { State } from './state.ts';
import { VALIDATE } from './validate.ts';

/** Stored entities, each kind in the order of creation. */
export type StoredLists = { readonly [K in EntityKindName]: readonly EntityMap[K][] };

export interface ListedChange extends MergedMemberChange {
  readonly list: ListName | DefinedName;
  readonly id: string;
}

/** Settings of an import that concern its entities. */
export interface DraftOptions {
  /** Kinds whose entities are deleted if the document does not name them. */
  readonly replaced: ReadonlySet<EntityKindName>;
  /** Whether values of listed entities are deleted if the document could contain them and does not. */
  readonly deletesMembers: boolean;
  readonly shapes: ShapeChecks;
  /** Limits on stored values; default: DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds;
}

const zoneSchema = checker(Zone);
const regionSchema = checker(Geometry);

/** Entities loaded between yields. */
const LOADED_AT_ONCE = 200;
/** Maximum geometry checks of one large geometry. */
const LOOKS_MAX = 5;

/**
 * The state that an import results in, under construction: the stored entities that the document does not name, and the
 * merged and checked entities of the document.
 */
export class ImportDraft implements EntityLookup {
  readonly shapes: ShapeChecks;
  readonly bounds: InputBounds;
  readonly problems: DocumentProblem[] = [];
  readonly missing: ListedChange[] = [];
  /** Merged entities of the document, referenced ones first. */
  inOrder: readonly Listed[] = [];
  readonly #document: EntityDocument;
  readonly #replaced: ReadonlySet<EntityKindName>;
  readonly #deletesMembers: boolean;
  /** Stored entities by kind and id, regardless of the case of UUIDs. */
  readonly #before = new Map<string, EntityMap[EntityKindName]>();
  readonly #named: ReadonlySet<string>;
  /** Entities of the document that differ from the stored ones, by kind and id. */
  readonly #news = new Set<string>();
  readonly #gone: Change[] = [];
  readonly #state = new State();
  /** The stored state, which georeferences fences. */
  readonly #places = new State();

  constructor(document: EntityDocument, { replaced, deletesMembers, shapes, bounds }: DraftOptions) {
    this.shapes = shapes;
    this.bounds = bounds ?? DEFAULT_BOUNDS;
    this.#document = document;
    this.#replaced = replaced;
    this.#deletesMembers = deletesMembers;
    this.#named = new Set(document.entities.map(({ kind, id }) => keyOf(kind, id)));
  }

  /** Loads the stored entities, part by part. */
  *load(stored: StoredLists): Generator<void> {
    let loaded = 0;
    // Dependents first.
    for (const [, kind] of LISTS.toReversed()) {
      for (const entity of stored[kind]) {
        this.#load(kind, entity);
        if (++loaded % LOADED_AT_ONCE === 0) yield;
      }
    }
    const listed: Listed[] = [];
    for (const each of this.#document.entities) {
      listed.push(this.#merged(each));
      if (listed.length % LOADED_AT_ONCE === 0) yield;
    }
    this.inOrder = LISTS.flatMap(([, kind]) => parentsFirst(listed.filter((each) => each.kind === kind)));
  }

  /** The merged entity, under the id of its creation. */
  #merged(listed: Listed): Listed {
    const before = this.#beforeOf(listed) as EntityBody | undefined;
    if (before === undefined) return listed;
    const { kind } = listed;
    const { former_zone: _plane, ...own } = before;
    const given = kind === 'fence' ? this.#withPlane(listed.body, before as unknown as StoredFence) : listed.body;
    const list = LIST_OF[kind];
    const scope = this.#document.scopes.get(list);
    const { body, missing } = merge(own, given, { deletes: this.#deletesMembers, scope });
    const id = String(before['id']);
    for (const path of missing) this.missing.push({ list, id, path, before: shownAt(before, path) });
    return { ...listed, id, body };
  }

  /**
   * Interprets the region of a fence. Without a crs, coordinates are longitude and latitude, and the fence retains its
   * own crs: the region is converted. A region equal to any form returned by the API is unchanged.
   */
  #withPlane(given: EntityBody, before: StoredFence): EntityBody {
    const { region, crs, zone_id: zoneId, ...rest } = given as Partial<StoredFence>;
    const isReadable = [crs, zoneId].every((each) => each == null || typeof each === 'string');
    if (region == null || !isReadable) return given;
    const zoneBy = (name: string): Zone | undefined => {
      const zone = this.#places.get('zone', name) ?? this.#places.zoneByForeignId(name);
      return zone && this.#places.placed(zone);
    };
    const view = { crs: crs ?? 'EPSG:4326', ...(crs === 'local' && zoneId != null && { zoneId }) };
    const shown = isCrs(view.crs) ? fenceIn(view, before, zoneBy) : undefined;
    const isInItsZone = isUnset(zoneId) || zoneId === before.zone_id || zoneId === shown?.zone_id;
    const { zone_id: ownZone, crs: ownCrs } = before;
    if (isInItsZone && isSame(region, shown?.region)) {
      return { ...rest, region: before.region, ...set({ crs: ownCrs, zone_id: ownZone }) };
    }
    if (crs != null || ownCrs == null || ownCrs === 'EPSG:4326' || !regionSchema.fits(region)) return given;
    const plane = { crs: ownCrs, ...(ownZone != null && { zoneId: ownZone }) };
    const inOwn = isInItsZone ? fenceIn(plane, { ...before, region, crs: 'EPSG:4326' }, zoneBy) : undefined;
    if (inOwn === undefined) return { ...given, crs: 'EPSG:4326' };
    return { ...rest, region: inOwn.region, ...set({ crs: ownCrs, zone_id: ownZone }) };
  }

  #load(kind: EntityKindName, entity: EntityMap[EntityKindName]): void {
    const key = keyOf(kind, entity.id);
    this.#before.set(key, entity);
    if (kind === 'zone' || kind === 'anchor') this.#places.set(kind, entity.id, entity);
    if (this.#named.has(key)) return;
    if (this.#replaced.has(kind)) this.#gone.push({ kind, id: entity.id, before: entity, after: undefined });
    else this.#state.set(kind, entity.id, entity);
  }

  get<K extends EntityKindName>(kind: K, id: string): EntityMap[K] | undefined {
    return this.#state.get(kind, id);
  }

  zoneBy(idOrForeignId: string): Zone | undefined {
    const zone = this.#state.get('zone', idOrForeignId) ?? this.#state.zoneByForeignId(idOrForeignId);
    return zone && this.#state.placed(zone);
  }

  zoneByForeignId(foreignId: string): Zone | undefined {
    return this.#state.zoneByForeignId(foreignId);
  }

  carriedBy(kind: EntityKindName, id: string) {
    return this.#state.carriedBy(kind, id);
  }

  /** Checks and adds an entity, or records its problems. An anchor has no zone before `complete`. */
  async add({ kind, id, place, body }: Listed): Promise<void> {
    if (this.#state.has(kind, id)) {
      this.problems.push({ ...problemAt(`${place}.id`, problemOf('taken_id', { kind, id })), id });
      return;
    }
    const { zone_id: _later, ...first } = body;
    await this.#put({ kind, id, place, body: kind === 'anchor' ? first : body });
  }

  async complete({ kind, id, place, body }: Listed): Promise<void> {
    if (!isUnset(body['zone_id'] as string | undefined) && this.#state.has(kind, id)) {
      await this.#put({ kind, id, place, body });
    }
  }

  counts(): Partial<Record<EntityKindName, ImportCounts>> {
    const counts: Partial<Record<EntityKindName, ImportCounts>> = {};
    for (const [, kind] of LISTS) {
      if (!this.#document.kinds.has(kind) && !this.#replaced.has(kind)) continue;
      const listed = this.inOrder.filter((each) => each.kind === kind);
      const created = listed.filter((each) => this.#beforeOf(each) === undefined).length;
      const changed = listed.filter((each) => this.#beforeOf(each) !== undefined && this.#isNews(each)).length;
      const deleted = this.#gone.filter((change) => change.kind === kind).length;
      counts[kind] = { created, changed, unchanged: listed.length - created - changed, deleted };
    }
    return counts;
  }

  /** Changed members of each new or changed entity of the document. */
  memberChanges(): readonly ListedChange[] {
    return this.inOrder.flatMap((each) => {
      const { kind, id } = each;
      const after = this.#state.get(kind, id);
      if (after === undefined || !this.#isNews(each)) return [];
      const changes = memberChanges(this.#beforeOf(each) as EntityBody | undefined, after as unknown as EntityBody);
      return changes.map((change) => ({ list: LIST_OF[kind], id, ...change }));
    });
  }

  /** All changes of stored entities. */
  *changes(): Generator<Change> {
    yield* this.#gone;
    yield* this.#leftBehind();
    for (const each of this.inOrder) {
      if (!this.#isNews(each)) continue;
      const { kind, id } = each;
      yield { kind, id, before: this.#beforeOf(each), after: this.#state.get(kind, id) };
    }
    yield* this.#carried();
    yield* this.#withoutParent();
  }

  async #put({ kind, id, place, body }: Listed): Promise<void> {
    for (let looks = 0; ; looks++) {
      try {
        const after = this.#checked({ kind, id, place, body });
        this.#state.set(kind, id, after);
        const key = keyOf(kind, id);
        if (isSame(after, this.#before.get(key))) this.#news.delete(key);
        else this.#news.add(key);
        return;
      } catch (error) {
        if (error instanceof NotChecked && looks < LOOKS_MAX) {
          await error.check();
          continue;
        }
        if (!(error instanceof HubError) || error.code !== 'HUB_BAD_REQUEST') throw error;
        this.problems.push({ ...problemAt(place, error), id });
        return;
      }
    }
  }

  #checked({ kind, id, body }: Listed): EntityMap[EntityKindName] {
    const sent = withId(bodyObject(body), id);
    const before = this.#before.get(keyOf(kind, id));
    const validate = VALIDATE[kind] as (
      body: EntityBody,
      known: EntityLookup,
      before: EntityMap[EntityKindName] | undefined,
    ) => EntityMap[EntityKindName];
    if (kind !== 'fence') {
      checkBounds(sent, this.bounds, before);
      return validate(sent, this, before);
    }
    // An exported fence whose zone was deleted includes the zone of its plane.
    const { former_zone: former } = sent as Partial<StoredFence>;
    const problem = former === undefined ? undefined : explainFormer(former);
    if (problem !== undefined) throw new HubError(problem);
    const left = former === undefined ? whereLeft(before as StoredFence | undefined) : (sent as unknown as StoredFence);
    checkBounds(sent, this.bounds, former === undefined ? before : sent);
    return validate(sent, this, left);
  }

  #beforeOf({ kind, id }: Pick<Listed, 'kind' | 'id'>): EntityMap[EntityKindName] | undefined {
    return this.#before.get(keyOf(kind, id));
  }

  #isNews({ kind, id }: Listed): boolean {
    return this.#news.has(keyOf(kind, id));
  }

  /** Stored fences whose zone the document deletes or renames: they stay at their position. */
  *#leftBehind(): Generator<Change> {
    for (const fence of this.#state.list('fence')) {
      if (fence.crs !== 'local' || isUnset(fence.zone_id) || this.#named.has(keyOf('fence', fence.id))) continue;
      const was = this.#places.get('zone', fence.zone_id) ?? this.#places.zoneByForeignId(fence.zone_id);
      const before = was && this.#places.placed(was);
      if (before === undefined || zoneTransform(before) === undefined) continue;
      const after = this.zoneBy(fence.zone_id);
      if (after !== undefined && zoneTransform(after) !== undefined) continue;
      yield { kind: 'fence', id: fence.id, before: fence, after: { ...fence, former_zone: planeOnly(before) } };
    }
  }

  /** Zones that follow a moved parent, unless the document sets their position. */
  *#carried(): Generator<Change> {
    const carrying = { state: this.#state, levelsMax: this.bounds.parents };
    for (const each of this.inOrder) {
      const before = this.#beforeOf(each);
      if (each.kind !== 'zone' || before === undefined || !this.#isNews(each)) continue;
      const after = this.#state.get('zone', each.id) as Zone;
      for (const change of carriedAlong(before as Zone, after, carrying)) {
        if (this.#named.has(keyOf('zone', change.id))) continue;
        this.#state.set('zone', change.id, change.after);
        yield change;
      }
    }
  }

  /** Removes the parent of entities whose parent is deleted. */
  *#withoutParent(): Generator<Change> {
    for (const { kind: goneKind, id: goneId } of this.#gone) {
      for (const { kind, entity } of this.#state.carriedBy(goneKind, goneId)) {
        const { parent: _gone, ...after } = entity;
        this.#state.set(kind, entity.id, after as Trackable & Zone);
        yield { kind, id: entity.id, before: entity, after: after as Trackable & Zone };
      }
    }
  }
}

const LIST_OF = Object.fromEntries(LISTS.map(([name, kind]) => [kind, name])) as Readonly<
  Record<EntityKindName, ListName>
>;

function set(members: Readonly<Record<string, unknown>>): EntityBody {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** A fence detached earlier may stay as it is. */
function whereLeft(before: StoredFence | undefined): StoredFence | undefined {
  return before?.former_zone === undefined ? undefined : before;
}

function explainFormer(former: unknown): Problem | undefined {
  if (!zoneSchema.fits(former)) return zoneSchema.explain(former, 'former_zone');
  if (zoneTransform(former) !== undefined) return undefined;
  return problemOf('zone_not_placed', { path: 'former_zone', found: show(former) });
}

/** Sorts parents before children; a cycle is left for the check to reject. */
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
  // A duplicate id is left for the check to reject, too.
  return [...sorted];
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${idKey(id)}`;
}

import { hubError } from '../errors.ts';
import { NotChecked, type ShapeChecks } from '../core/shape_checks.ts';
import type { ZoneMove } from '../core/zone/following.ts';
import type { Author } from '../model/audit.ts';
import { type InputBounds, DEFAULT_BOUNDS } from '../model/bounds.ts';
import { idKey, isUnset } from '../model/id.ts';
import type { ProviderType } from '../model/location.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { LocatingRule } from '../model/rule.ts';
import { show } from '../model/error_value_text.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import { type EntityBody, bodyObject, withId, withIdOf } from './body.ts';
import { type Change, type RemoteChange, remoteEntity } from './change.ts';
import type { ChangeStep, Committing, Prepared } from './change_group.ts';
import { ChangeQueue, type ChangeQueueOptions } from './change_queue.ts';
import { checkBounds } from './check_bounds.ts';
import type { DefinedWrite } from './documents.ts';
import type { Carried, EntityMap, EntityKindName, EntityLookup } from './entity_lookup.ts';
import { withDetachedFences } from './detached_fences.ts';
import { carriedAlong, movedZones } from './moved_zones.ts';
import { PendingProviders } from './pending_providers.ts';
import { State } from './state.ts';
import { subdivided } from './subdivided.ts';
import { VALIDATE } from './validate.ts';

export type { Change } from './change.ts';
export type { EntityMap, EntityKindName as Kind } from './entity_lookup.ts';

/** Services of the hub for the entities. */
export interface EntitiesDeps extends ChangeQueueOptions {
  /**
   * Commits the changes atomically, or reports that another record came first. Rejects with HUB_UNAVAILABLE on failure.
   * `together`: the origin of changes made by `changeTogether`.
   */
  commit(changes: readonly Change[], together?: ChangesTogether): Committing;
  /**
   * Notifies all other parts, in the order of the changes, as soon as they are committed; several calls for many
   * changes.
   */
  committed(changes: readonly Change[]): void;
  newId(): string;
  /** Checks of a geometry engine. */
  readonly shapes: ShapeChecks;
  /** Limits on stored values; default: DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds;
  /** The link that mirrors the entity from another hub; undefined for an entity of this hub. */
  mirroredBy?(entity: object): string | undefined;
}

/** Changes that are committed atomically. */
export interface ChangesTogether {
  /** Already checked; in an order suitable for notifications. */
  readonly changes: readonly Change[];
  /** Locating rules to commit with them, if possible. */
  readonly rules?: readonly LocatingRule[] | undefined;
  /** Documents of the page to commit with them. */
  readonly defined?: readonly DefinedWrite[] | undefined;
  readonly by?: Author | undefined;
}

interface Planned extends Prepared<Change> {
  readonly planned: ChangesTogether;
}

interface CreateOptions {
  /** Whether an id in the body is replaced by a generated one. */
  readonly replaceId?: boolean;
  readonly force?: boolean;
  /** Whether positions are added on the long edges of its polygon. */
  readonly subdivide?: boolean;
  /** Whether the change comes from the link that mirrors the entity. All others are rejected. */
  readonly isMirror?: boolean;
  /** Author of the change, for the audit log; undefined: the change is not audited. */
  readonly by?: Author | undefined;
  /** Throws if the replacement is not permitted. Called before it is checked. */
  admit?(before: object | undefined, sent: EntityBody): void;
}

export type ReplaceOptions = Omit<CreateOptions, 'replaceId'>;

interface RemoveOptions extends Pick<CreateOptions, 'isMirror' | 'by'> {
  /** Throws if the deletion of the entity, after all previous changes, is not permitted. */
  admit?(before: object): void;
}

const KINDS = ['zone', 'fence', 'trackable', 'provider', 'anchor'] as const satisfies EntityKindName[];

/** Maximum changes per step of a large operation. */
const STEP_CHANGES = 500;
/** Maximum rounds of geometry checks for one change. */
const ROUNDS_MAX = 5;

/**
 * The configured entities, in memory, and the only way to change them. Entities are immutable: a change replaces one.
 * Every change is checked against the state after all previous changes, then committed, then answered. A failed check
 * rejects with HUB_BAD_REQUEST or HUB_NOT_FOUND and changes nothing.
 */
export class Entities implements EntityLookup {
  readonly shapes: ShapeChecks;
  readonly bounds: InputBounds;
  readonly #deps: EntitiesDeps;
  readonly #state = new State();
  readonly #pending = new PendingProviders();
  readonly #queue: ChangeQueue<Change>;
  /** Providers created by the current commit, by idKey. */
  readonly #fresh = new Set<string>();
  #providersGone = 0;

  constructor(deps: EntitiesDeps) {
    this.#deps = deps;
    this.shapes = deps.shapes;
    this.bounds = deps.bounds ?? DEFAULT_BOUNDS;
    this.#queue = new ChangeQueue<Change>(
      {
        apply: (change) => this.#apply(change),
        commit: (changes, together) => deps.commit(changes, (together as Planned | undefined)?.planned),
        committed: (changes) => {
          for (const { kind, id } of changes) if (kind === 'provider') this.#fresh.delete(idKey(id));
          deps.committed(changes);
        },
        takenBack: () => this.#pending.takenBack(),
      },
      deps,
    );
  }

  /** Loads stored entities: without checks, commit, or notifications. */
  load(stored: { readonly [K in EntityKindName]?: readonly EntityMap[K][] }): void {
    for (const zone of stored.zone ?? []) this.#state.set('zone', zone.id, zone);
    for (const fence of stored.fence ?? []) this.#state.set('fence', fence.id, fence);
    for (const trackable of stored.trackable ?? []) this.#state.set('trackable', trackable.id, trackable);
    for (const provider of stored.provider ?? []) this.#state.set('provider', provider.id, provider);
    for (const anchor of stored.anchor ?? []) this.#state.set('anchor', anchor.id, anchor);
  }

  /**
   * Applies changes of another hub from a record of the shared log: unchecked, and before all uncommitted changes of
   * this hub. Call it for each record except those of own commits, even without entities. Notifies all other parts.
   * Throws for an invalid entity, without changing anything.
   */
  applyRemote(changes: readonly RemoteChange[]): void {
    const remote = changes.map((change) => ({ ...change, after: remoteEntity(change) }));
    this.#queue.overtake(() => {
      const applied: Change[] = [];
      for (const { kind, id, after, ifAbsent, ...options } of remote) {
        const before = this.#state.get(kind, id);
        if (before === undefined ? after === undefined : ifAbsent === true) continue;
        const change = { kind, id: before?.id ?? id, before, after, ...forced(options) };
        this.#set(change);
        applied.push(change);
      }
      if (applied.length > 0) this.#deps.committed(applied);
    });
  }

  /** Handles the record of the current commit: notifies of its changes now. Throws without a commit. */
  committed(): void {
    this.#queue.committed();
  }

  /** All committed entities, each kind in the order of creation. Not during a commit, which may be rolled back. */
  *written(): Generator<{ readonly kind: EntityKindName; readonly id: string; readonly text: string }> {
    for (const kind of KINDS) {
      for (const entity of this.#state.list(kind)) yield { kind, id: entity.id, text: JSON.stringify(entity) };
    }
  }

  get<K extends EntityKindName>(kind: K, id: string): EntityMap[K] | undefined {
    const entity = this.#state.get(kind, id);
    if (entity !== undefined || kind !== 'provider') return entity;
    return this.#pending.get(id) as EntityMap[K] | undefined;
  }

  has(kind: EntityKindName, id: string): boolean {
    return this.get(kind, id) !== undefined;
  }

  /** In the order of creation. */
  list<K extends EntityKindName>(kind: K): readonly EntityMap[K][] {
    const entities = this.#state.list(kind);
    if (kind !== 'provider' || this.#pending.size === 0) return entities;
    return [...entities, ...(this.#unseen() as EntityMap[K][])];
  }

  /** All entities, each kind in the order of creation. */
  lists(): { readonly [K in EntityKindName]: readonly EntityMap[K][] } {
    return {
      zone: this.#state.list('zone'),
      fence: this.#state.list('fence'),
      trackable: this.#state.list('trackable'),
      provider: this.#state.list('provider'),
      anchor: this.#state.list('anchor'),
    };
  }

  count(kind: EntityKindName): number {
    return this.#state.count(kind) + (kind === 'provider' ? this.#unseen().length : 0);
  }

  /** The zone with that id, or else with that foreign id, georeferenced by its anchors; `get` returns it as sent. */
  zoneBy(idOrForeignId: string): Zone | undefined {
    const zone = this.#state.get('zone', idOrForeignId) ?? this.#state.zoneByForeignId(idOrForeignId);
    return zone && this.#state.placed(zone);
  }

  /** The zone georeferenced by its anchors. */
  placed(zone: Zone): Zone {
    return this.#state.placed(zone);
  }

  /** The zones that list the anchor, sorted by id. */
  zonesAt(anchorId: string): readonly Zone[] {
    return this.#state.zonesAt(anchorId);
  }

  zoneByForeignId(foreignId: string): Zone | undefined {
    return this.#state.zoneByForeignId(foreignId);
  }

  /** The trackables that reference the provider, sorted by id; also for a provider that does not exist. */
  trackablesOf(providerId: string): readonly Trackable[] {
    return this.#state.trackablesOf(providerId);
  }

  carriedBy(kind: EntityKindName, id: string): readonly Carried[] {
    return this.#state.carriedBy(kind, id);
  }

  /** Ids of the entities of the same kind whose parent is that one. */
  childrenOf(kind: 'trackable' | 'zone', id: string): string[] {
    return this.#state.childrenOf(kind, id).map((child) => child.id);
  }

  /** Generates an id. */
  newId(): string {
    return this.#deps.newId();
  }

  /**
   * Creates an entity. A body without id gets a generated one, and one whose id is taken is rejected. Resolves with the
   * stored entity.
   */
  create<K extends EntityKindName>(kind: K, body: unknown, options: CreateOptions = {}): Promise<EntityMap[K]> {
    return this.#run((write) => {
      const sent = this.#withNewId(kind, body, options);
      checkBounds(sent, this.bounds);
      const after = this.#checked(kind, sent, options);
      const taken = this.#state.get(kind, after.id);
      if (taken !== undefined) throw hubError('taken_id', { path: 'id', kind, id: taken.id });
      this.#admitMirror({ kind, id: after.id, before: undefined, after }, options);
      write({ kind, id: after.id, before: undefined, after, ...forced(options) });
      return after;
    }, options.by);
  }

  /** Replaces an entity by a body, which may leave out the id. Rejects with HUB_NOT_FOUND for an unknown id. */
  replace<K extends EntityKindName>(
    kind: K,
    id: string,
    body: unknown,
    options: ReplaceOptions = {},
  ): Promise<EntityMap[K]> {
    return this.edit(kind, id, () => body, options);
  }

  /**
   * Replaces an entity by the result of `revise`, checked like any body. `revise` receives the entity after all
   * previous changes. Rejects with the error of `revise`.
   */
  edit<K extends EntityKindName>(
    kind: K,
    id: string,
    revise: (entity: EntityMap[K]) => unknown,
    options: ReplaceOptions = {},
  ): Promise<EntityMap[K]> {
    return this.#run((write) => {
      const before = this.#state.get(kind, id);
      if (before === undefined) throw hubError('not_found', { action: 'replace', kind, id });
      const sent = withIdOf(bodyObject(revise(before)), before);
      checkBounds(sent, this.bounds, before);
      const after = this.#checked(kind, sent, options, before);
      const change = { kind, id: before.id, before, after, ...forced(options) };
      this.#admitMirror(change, options);
      for (const each of withDetachedFences(change, this.#state)) write(each);
      const carrying = { state: this.#state, levelsMax: this.bounds.parents };
      if (kind === 'zone') for (const carried of carriedAlong(before as Zone, after as Zone, carrying)) write(carried);
      return after;
    }, options.by);
  }

  /** Whether any zone follows an object. */
  get hasMobileZones(): boolean {
    return this.#state.mobileZones > 0;
  }

  /** Moves zones that follow moved objects. `moves` is called when it is their turn. */
  moveZones(moves: () => Iterable<ZoneMove>): Promise<void> {
    return this.#queue.run((write) => {
      for (const change of movedZones(moves(), this.#state, this.bounds.parents)) write(change);
    });
  }

  /**
   * Commits changes atomically, in their own transaction. `plan` returns them when it is their turn, and again if a
   * record of the log came first; nothing else changes until they are committed. They are not checked. Resolves with
   * the plan. Rejects with the error of `plan`, and with HUB_UNAVAILABLE.
   */
  async changeTogether<Plan extends ChangesTogether>(plan: () => Promise<Plan>): Promise<Plan> {
    const { planned } = await this.#queue.runTogether(async () => {
      const planned = await plan();
      for (const change of planned.changes) this.#admitMirror(change);
      const steps: ChangeStep<Change, void>[] = [];
      for (let from = 0; from < planned.changes.length; from += STEP_CHANGES) {
        const some = planned.changes.slice(from, from + STEP_CHANGES);
        steps.push(authored((write) => some.forEach((change) => void write(change)), planned.by));
      }
      return { steps, planned };
    });
    return planned;
  }

  /** Deletes an entity. Entities that it carried lose their parent. Rejects with HUB_NOT_FOUND for an unknown id. */
  remove(kind: EntityKindName, id: string, options: RemoveOptions = {}): Promise<void> {
    return this.#run((write) => {
      const before = this.#state.get(kind, id);
      if (before === undefined) throw hubError('not_found', { action: 'delete', kind, id });
      options.admit?.(before);
      this.#admitMirror({ kind, id: before.id, before, after: undefined }, options);
      this.#remove([before], kind, write);
    }, options.by);
  }

  /** Deletes all entities of a kind, except mirrors. */
  clear(kind: EntityKindName, by?: Author): Promise<void> {
    const { mirroredBy } = this.#deps;
    return this.#run((write) => {
      const own = this.#state.list(kind).filter((entity) => mirroredBy?.(entity) === undefined);
      this.#remove(own, kind, write);
    }, by);
  }

  /** Resolves when all changes so far are committed or rejected, and all listeners are notified. */
  async settled(): Promise<void> {
    await this.#queue.run(() => undefined).catch(() => undefined);
  }

  /**
   * Ensures that the provider of a location exists. Returns undefined if it is already committed. Otherwise it is
   * visible at once, and the promise settles with the commit of its creation. It may be deleted before the promise
   * resolves, so a caller that waited must call again.
   */
  ensureProvider(id: string, type: ProviderType): Promise<void> | undefined {
    // hot: called for every location
    if (this.#state.has('provider', id)) {
      if (this.#fresh.size === 0 || !this.#fresh.has(idKey(id))) return undefined;
      return this.#queue.committing;
    }
    return this.#pending.created(id) ?? this.#announce({ id, type });
  }

  /** Number of deleted providers. While it is unchanged, providers found by ensureProvider still exist. */
  get providersGone(): number {
    return this.#providersGone;
  }

  /** Queues a step; repeats it after an asynchronous check of a geometry that is too large for an immediate one. */
  async #run<Result>(step: ChangeStep<Change, Result>, by: Author | undefined): Promise<Result> {
    const queued = authored(step, by);
    for (let rounds = 0; ; rounds++) {
      try {
        return await this.#queue.run(queued);
      } catch (error) {
        // Concurrent changes may require the check of another geometry.
        if (!(error instanceof NotChecked)) throw error;
        if (rounds === ROUNDS_MAX) throw hubError('geometry_changing');
        await error.check();
      }
    }
  }

  #announce(provider: LocationProvider): Promise<void> {
    const created = this.#queue.run((write) => {
      this.#pending.forget(provider);
      if (this.#state.has('provider', provider.id)) return;
      write({ kind: 'provider', id: provider.id, before: undefined, after: provider });
    });
    this.#pending.add(provider, created);
    return created;
  }

  /** Pending providers that are not visible otherwise: the deletion of one may have been rolled back. */
  #unseen(): LocationProvider[] {
    return this.#pending.list().filter(({ id }) => !this.#state.has('provider', id));
  }

  #checked<K extends EntityKindName>(
    kind: K,
    body: EntityBody,
    options: ReplaceOptions,
    before?: EntityMap[K],
  ): EntityMap[K] {
    options.admit?.(before, body);
    const entity = VALIDATE[kind](body, this, before);
    const finer = options.subdivide === true ? subdivided(kind, entity, this) : entity;
    return finer === entity ? entity : VALIDATE[kind](finer as EntityBody, this, finer);
  }

  /** Throws HUB_NOT_AUTHORIZED for a change of a mirror that does not come from its link. */
  #admitMirror({ kind, id, before, after }: Change, { isMirror }: Pick<CreateOptions, 'isMirror'> = {}): void {
    if (isMirror === true || kind === 'provider') return;
    const { mirroredBy } = this.#deps;
    const link = (before && mirroredBy?.(before)) ?? (after && mirroredBy?.(after));
    if (link !== undefined) throw hubError('mirrored', { kind, id, link });
  }

  #withNewId(kind: EntityKindName, body: unknown, options: CreateOptions): EntityBody {
    const sent = bodyObject(body);
    const id = sent['id'];
    if (kind === 'provider' && id === '') return sent;
    // Only anchors must have an id from the sender.
    if (kind === 'anchor' && id === undefined) return sent;
    if (isUnset(id)) return withId(sent, this.#deps.newId());
    if (typeof id !== 'string') throw hubError('not_a_string', { path: 'id', found: show(id) });
    return options.replaceId === true ? withId(sent, this.#deps.newId()) : sent;
  }

  #remove<K extends EntityKindName>(
    entities: readonly EntityMap[K][],
    kind: K,
    write: Parameters<ChangeStep<Change, void>>[0],
  ): void {
    const gone = entities.map((before) => ({ kind, id: before.id, before, after: undefined }));
    for (const change of gone) for (const each of withDetachedFences(change, this.#state)) write(each);
    for (const { id } of entities) {
      for (const { kind: of, entity } of this.#state.carriedBy(kind, id)) {
        const { parent: _gone, ...after } = entity;
        write({ kind: of, id: entity.id, before: entity, after: after as EntityMap[typeof of] });
      }
    }
  }

  #set({ kind, id, after }: Change): () => void {
    if (kind === 'provider' && after === undefined) this.#providersGone++;
    return this.#state.set(kind, id, after);
  }

  #apply(change: Change): () => void {
    const { kind, id, before } = change;
    const undo = this.#set(change);
    if (kind !== 'provider' || before !== undefined) return undo;
    const key = idKey(id);
    this.#fresh.add(key);
    return () => {
      this.#fresh.delete(key);
      undo();
    };
  }
}

/** Returns a step whose changes have an author. */
function authored<Result>(step: ChangeStep<Change, Result>, by: Author | undefined): ChangeStep<Change, Result> {
  return by === undefined ? step : (write) => step((change) => write({ ...change, by }));
}

function forced({ force }: { readonly force?: boolean }): { force?: boolean } {
  return force === true ? { force } : {};
}

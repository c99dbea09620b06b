import { isObject, isSame } from '../model/json_tree.ts';
import { MIRROR_PROPERTY, type MirrorMark, mirrorMark } from '../model/mirror_mark.ts';
import { uuidHere } from './ids_here.ts';

/** Mirrored kinds of entities: each may refer to those before it. */
export const MIRRORED = [
  ['zone', '/zones/summary'],
  ['trackable', '/trackables/summary'],
  ['fence', '/fences/summary'],
] as const;
export type MirroredKind = (typeof MIRRORED)[number][0];
/** All entities of another hub. */
export type MirrorSnapshot = Readonly<Record<MirroredKind, readonly unknown[]>>;
type Body = Readonly<Record<string, unknown>>;

/** The entities of this hub. Changes reject with a HubError. */
export interface MirrorTarget {
  list(kind: MirroredKind): readonly { readonly id: string }[];
  create(kind: MirroredKind, body: object): Promise<unknown>;
  replace(kind: MirroredKind, id: string, body: object): Promise<unknown>;
  remove(kind: MirroredKind, id: string): Promise<void>;
}

export interface MirrorSettings {
  readonly linkId: string;
  /** Id of this hub. */
  readonly hubId: string;
  readonly peerId: string;
  readonly idPrefix: string;
}

export interface MirrorCounts {
  readonly mirrored: number;
  readonly notMirrored: number;
  /** Why an entity is not mirrored; undefined if all are. */
  readonly problem: string | undefined;
}

/**
 * Mirrors the entities of another hub, read-only. Each has a mark with the link, the hub to which it belongs, and its id
 * there. A snapshot of the other hub is compared with the marked entities of this hub:
 *
 *     in the snapshot, of this hub itself               skipped: mirrors in a cycle end where they began
 *     in the snapshot, mirrored by another link         skipped: the first link stays
 *     in the snapshot, its id is taken by an entity     skipped and counted: an entity of this hub is never overwritten
 *     in the snapshot, otherwise                        created, or replaced if it differs
 *     marked here, not in the snapshot                  deleted
 */
export class Mirror {
  readonly #settings: MirrorSettings;
  readonly #target: MirrorTarget;
  /** Last accepted body by kind and id. The stored form of an entity may differ from its body. */
  readonly #accepted = new Map<string, object>();

  constructor(settings: MirrorSettings, target: MirrorTarget) {
    this.#settings = settings;
    this.#target = target;
  }

  /** Applies the lists of a snapshot. Resolves when all changes are committed or rejected. */
  async apply(snapshot: MirrorSnapshot): Promise<MirrorCounts> {
    let mirrored = 0;
    const problems: string[] = [];
    const obsolete: (readonly [MirroredKind, string])[] = [];
    for (const [kind] of MIRRORED) {
      const here = new Map(this.#target.list(kind).map((entity) => [entity.id, entity]));
      const others = new Set([...here.values()].flatMap((entity) => this.#otherOrigin(entity)));
      const wanted = new Map<string, object>();
      for (const sent of snapshot[kind]) {
        if (!isObject(sent) || typeof sent['id'] !== 'string') {
          problems.push(`A ${kind} has no id`);
          continue;
        }
        const mark = this.#markOf(sent, sent['id']);
        if (mark.hub === this.#settings.hubId || others.has(originOf(mark))) continue;
        const body = this.#converted(kind, sent, mark);
        wanted.set(body.id, body);
      }
      const rejected = await this.#write(kind, wanted, here);
      problems.push(...rejected.values());
      mirrored += wanted.size - rejected.size;
      for (const [id, entity] of here) if (this.#isOwn(entity) && !wanted.has(id)) obsolete.push([kind, id]);
    }
    // Dependents first.
    for (const [kind, id] of obsolete.reverse()) {
      this.#accepted.delete(`${kind} ${id}`);
      await this.#target.remove(kind, id).catch((error: unknown) => problems.push(messageOf(error)));
    }
    return { mirrored, notMirrored: problems.length, problem: problems[0] };
  }

  /** Writes entities until all are written or no further one succeeds: they may refer to each other in any order. */
  async #write(
    kind: MirroredKind,
    wanted: ReadonlyMap<string, object>,
    here: ReadonlyMap<string, object>,
  ): Promise<ReadonlyMap<string, string>> {
    let left = [...wanted];
    for (;;) {
      const rejected = new Map<string, string>();
      const results = await Promise.all(
        left.map(async ([id, body]) => {
          const why = await this.#writeOne(kind, { id, body, before: here.get(id) });
          return why === undefined ? undefined : ([id, body, why] as const);
        }),
      );
      const failed = results.filter((result) => result !== undefined);
      for (const [id, , why] of failed) rejected.set(id, why);
      if (failed.length === 0 || failed.length === left.length) return rejected;
      left = failed.map(([id, body]) => [id, body]);
    }
  }

  /** Returns why an entity is not written. */
  async #writeOne(
    kind: MirroredKind,
    { id, body, before }: { readonly id: string; readonly body: object; readonly before: object | undefined },
  ): Promise<string | undefined> {
    const key = `${kind} ${id}`;
    if (before !== undefined && !this.#isOwn(before))
      return `${kind} "${id}": the id is taken by an entity of this hub`;
    if (before !== undefined && (isSame(before, body) || isSame(this.#accepted.get(key), body))) return undefined;
    try {
      if (before === undefined) await this.#target.create(kind, body);
      else await this.#target.replace(kind, id, body);
      this.#accepted.set(key, body);
      return undefined;
    } catch (error) {
      return `${kind} "${id}": ${messageOf(error)}`;
    }
  }

  #isOwn(entity: object): boolean {
    return mirrorMark(entity)?.link === this.#settings.linkId;
  }

  /** The origin of an entity that another link mirrors. */
  #otherOrigin(entity: object): readonly string[] {
    const mark = mirrorMark(entity);
    return mark === undefined || mark.link === this.#settings.linkId ? [] : [originOf(mark)];
  }

  #markOf(sent: Body, id: string): MirrorMark {
    const { hub, id: originId } = mirrorMark(sent) ?? { hub: this.#settings.peerId, id };
    return { link: this.#settings.linkId, hub, id: originId };
  }

  #idOf(kind: MirroredKind, id: string): string {
    return kind === 'trackable' ? uuidHere(id, this.#settings) : this.#settings.idPrefix + id;
  }

  /** The entity as it is stored here. */
  #converted(kind: MirroredKind, sent: Body, mark: MirrorMark): Body & { readonly id: string } {
    const { idPrefix } = this.#settings;
    // The other hub moves its zones itself.
    const { children: _computed, anchor_ids: _anchors, zone_id: zoneId, parent, ...rest } = sent;
    const { foreign_id: foreignId, location_providers: providers, properties, crs } = sent;
    return {
      ...rest,
      id: this.#idOf(kind, String(sent['id'])),
      ...(typeof foreignId === 'string' && foreignId !== '' && { foreign_id: idPrefix + foreignId }),
      ...(typeof parent === 'string' && kind === 'trackable' && { parent: this.#idOf(kind, parent) }),
      // A fence in WGS 84 needs no zone.
      ...(typeof zoneId === 'string' && crs === 'local' && { zone_id: idPrefix + zoneId }),
      ...(Array.isArray(providers) && { location_providers: providers.map((provider) => `${idPrefix}${provider}`) }),
      properties: { ...(isObject(properties) && properties), [MIRROR_PROPERTY]: mark },
    };
  }
}

function originOf({ hub, id }: MirrorMark): string {
  return JSON.stringify([hub, id]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

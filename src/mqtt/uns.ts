import type { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { grouped } from '../problem.ts';
import { show } from '../model/error_value_text.ts';
import type { FilterFields } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Outbound } from './outbound.ts';
import { UNFIT_FOR_TOPICS } from './topics.ts';

/** Property of a trackable that contains its path in the unified namespace. */
export const UNS_PROPERTY = 'com.flowcate.uns';

/** Settings of the unified namespace. */
export interface UnsSettings {
  /** First levels of all topics. */
  readonly root: string;
  /** Maximum number of levels of the property. */
  readonly levelsMax: number;
  /** Maximum length of a topic in bytes. */
  readonly bytesMax: number;
}

/** Reasons why a trackable has no topic. */
export const UNS_PROBLEMS = ['characters', 'levels', 'length', 'taken'] as const;
export type UnsProblem = (typeof UNS_PROBLEMS)[number];

/** Claim of a trackable: a topic, or the problem of an invalid claim. */
type Claim = { readonly topic: string } | { readonly problem: UnsProblem; readonly text: string };

/**
 * Returns the topic that a trackable claims, without empty levels, or the problem with it; undefined without the
 * property.
 */
export function unsClaimOf(
  { root, levelsMax, bytesMax }: UnsSettings,
  trackable: Pick<Trackable, 'properties'> | undefined,
): Claim | undefined {
  const path = (trackable?.properties as Readonly<Record<string, unknown>> | null | undefined)?.[UNS_PROPERTY];
  if (path === undefined || path === null) return undefined;
  const name = `properties.${UNS_PROPERTY}`;
  if (typeof path !== 'string') {
    return { problem: 'characters', text: `${name}: must be a string, found ${show(path)}` };
  }
  const levels = path.split('/').filter((level) => level !== '');
  if (levels.length === 0) return undefined;
  if (/[+#]/.test(path) || UNFIT_FOR_TOPICS.test(path)) {
    const wanted = 'must have neither "+", "#" nor control characters';
    return { problem: 'characters', text: `${name}: ${wanted}, found ${show(path)}` };
  }
  if (levels.length > levelsMax) {
    const text = `${name}: must have at most ${levelsMax} levels, found ${grouped(levels.length)}`;
    return { problem: 'levels', text };
  }
  const topic = unsTopic(root, levels.join('/'));
  const bytes = Buffer.byteLength(topic);
  if (bytes <= bytesMax) return { topic };
  const text = `${name}: must make a topic of at most ${grouped(bytesMax)} bytes, found ${grouped(bytes)}`;
  return { problem: 'length', text };
}

/** Returns the topic of a path in the unified namespace. */
export function unsTopic(root: string, path: string): string {
  return `${root}/${path}/sensor/wgs84`;
}

export interface UnsDeps {
  readonly fanout: Pick<Fanout, 'listen'>;
  trackable(id: string): Trackable | undefined;
  /** All trackables, in order of creation. */
  trackables(): readonly Trackable[];
  /** Returns the stored owner of a topic that several trackables have claimed. */
  storedOwner(topic: string): string | undefined;
  /** Stores the owner of a topic; undefined if the topic has at most one claimant. */
  storeOwner(topic: string, trackable: string | undefined): void;
  readonly publish: Outbound['publish'];
  /** Reports that a trackable has no topic. */
  notice(problem: UnsProblem, text: string, trackable: string): void;
}

const WGS84 = { crs: 'EPSG:4326' };
/** Minimum interval between two positions of a trackable. */
const INTERVAL_MS = 1000;
const NOTHING = new Uint8Array();
/** Maximum number of rejected claims listed in health. */
const NAMED_MAX = 20;

/** A rejected claim. */
interface RejectedClaim {
  readonly problem: UnsProblem;
  readonly text: string;
  /** Topic that the trackable waits for. */
  readonly topic?: string;
}

/**
 * Publishes the last position of each trackable that has a topic in the unified namespace, as a retained message. When
 * the trackable gets another topic or is deleted, an empty message removes the position.
 *
 * A topic has one owner. Trackables claim topics by their property:
 *
 *     first claim ──▶ owner: its positions are published
 *     later claim ──▶ rejected: it waits, and its positions are not published
 *     the owner is deleted, or claims another topic ──▶ its position is removed, and the first waiting claimant is the owner
 *
 * The owner of a contested topic is stored, since the order of claims is unknown after a restart. All hubs of a cluster
 * apply changes in the same order and therefore agree on the owner.
 */
export class Uns {
  readonly #settings: UnsSettings;
  readonly #deps: UnsDeps;
  /** Topics of owners, by trackable id. The broker may retain a position on each. */
  readonly #topics = new Map<string, string>();
  /** Claimants by topic; the first one is the owner. */
  readonly #claimants = new Map<string, string[]>();
  /** Rejected claims by trackable id. */
  readonly #refused = new Map<string, RejectedClaim>();

  constructor(settings: UnsSettings, deps: UnsDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { fanout, trackables, storedOwner } = deps;
    const claims = trackables().map((trackable) => ({ id: trackable.id, claim: unsClaimOf(settings, trackable) }));
    const isStored = ({ id, claim }: (typeof claims)[number]): boolean =>
      claim !== undefined && 'topic' in claim && storedOwner(claim.topic) === id;
    for (const { id, claim } of [...claims.filter(isStored), ...claims]) this.#claim(id, claim);
    fanout.listen(
      { receive: (batch, fields) => this.#moved(batch, fields) },
      { topic: 'trackable_motions', view: WGS84 },
    );
    fanout.listen({ receive: (_, fields) => this.#changed(fields) }, { topic: 'trackable_changes', view: WGS84 });
  }

  /** Returns the number of trackables with a topic, and rejected claims. */
  health() {
    const refused = [...this.#refused].slice(0, NAMED_MAX).map(([id, { text }]) => ({ id, problem: text }));
    return { topics: this.#topics.size, refused: this.#refused.size, problems: refused };
  }

  /** Returns the number of rejected claims by reason. */
  refusals(): Readonly<Record<UnsProblem, number>> {
    const counts = Object.fromEntries(UNS_PROBLEMS.map((problem) => [problem, 0])) as Record<UnsProblem, number>;
    for (const { problem } of this.#refused.values()) counts[problem]++;
    return counts;
  }

  /** hot */
  #moved(batch: DeliveryBatch, fields: readonly FilterFields[]): void {
    const { publish } = this.#deps;
    for (let i = 0; i < batch.count; i++) {
      const topic = this.#topics.get(String(fields[i]?.[0]));
      if (topic === undefined) continue;
      publish(topic, batch.bytesAt(i), { isRetained: true, minIntervalMs: INTERVAL_MS, motionAs: 'uns' });
    }
  }

  #changed(fields: readonly FilterFields[]): void {
    const id = String(fields[0]?.[0]);
    const claim = unsClaimOf(this.#settings, this.#deps.trackable(id));
    const topic = claim !== undefined && 'topic' in claim ? claim.topic : undefined;
    const before = this.#topics.get(id) ?? this.#refused.get(id)?.topic;
    if (before !== undefined && before !== topic) this.#release(id, before);
    this.#claim(id, claim);
  }

  /** Registers a claim. Repeating it changes nothing. */
  #claim(id: string, claim: Claim | undefined): void {
    if (claim === undefined) {
      this.#refused.delete(id);
      return;
    }
    if ('problem' in claim) {
      this.#refuse(id, claim);
      return;
    }
    const { topic } = claim;
    const claimants = this.#claimants.get(topic) ?? [];
    if (claimants.includes(id)) return;
    claimants.push(id);
    this.#claimants.set(topic, claimants);
    const [owner = id] = claimants;
    if (owner === id) this.#own(id, topic);
    else this.#refuse(id, taken(topic, owner));
    this.#store(topic);
  }

  /** Withdraws the claim of a trackable. */
  #release(id: string, topic: string): void {
    const claimants = this.#claimants.get(topic) ?? [];
    const [owner] = claimants;
    const rest = claimants.filter((each) => each !== id);
    this.#refused.delete(id);
    if (rest.length === 0) this.#claimants.delete(topic);
    else this.#claimants.set(topic, rest);
    if (owner === id) {
      this.#topics.delete(id);
      this.#deps.publish(topic, NOTHING, { isRetained: true });
      const [next, ...waiting] = rest;
      if (next !== undefined) this.#own(next, topic);
      for (const each of waiting) this.#refused.set(each, taken(topic, next as string));
    }
    this.#store(topic);
  }

  #own(id: string, topic: string): void {
    this.#refused.delete(id);
    this.#topics.set(id, topic);
  }

  #refuse(id: string, refused: RejectedClaim): void {
    const isNew = this.#refused.get(id)?.text !== refused.text;
    this.#refused.set(id, refused);
    if (isNew) this.#deps.notice(refused.problem, refused.text, id);
  }

  /** Stores the owner of a contested topic. */
  #store(topic: string): void {
    const { storedOwner, storeOwner } = this.#deps;
    const [owner, next] = this.#claimants.get(topic) ?? [];
    const stored = next === undefined ? undefined : owner;
    if (storedOwner(topic) !== stored) storeOwner(topic, stored);
  }
}

function taken(topic: string, owner: string): RejectedClaim {
  const found = `found that of ${show(owner)} (topic ${show(topic)})`;
  return { problem: 'taken', text: `properties.${UNS_PROPERTY}: must be a path of one trackable, ${found}`, topic };
}

interface Motion {
  readonly location: {
    readonly position: { readonly coordinates: readonly number[] };
    readonly floor?: number | null;
    readonly accuracy?: number | null;
    readonly speed?: number | null;
    readonly course?: number | null;
    readonly timestamp_generated?: string | null;
  };
}

/** Returns the message for the unified namespace: the position of a TrackableMotion in EPSG:4326, as JSON. */
export function placeText(motion: string): string {
  return placeJson(placeOf(motion));
}

/** Returns the position of a TrackableMotion in EPSG:4326. */
export function placeOf(motion: string) {
  const { position, ...location } = (JSON.parse(motion) as Motion).location;
  const [longitude, latitude, altitude] = position.coordinates;
  const { floor, accuracy, speed, course, timestamp_generated: timestamp } = location;
  return { longitude, latitude, altitude, floor, accuracy, speed, course, timestamp };
}

/** Returns JSON without the members of a position that are null. */
export function placeJson(place: object): string {
  return JSON.stringify(place, (_, value: unknown) => value ?? undefined);
}

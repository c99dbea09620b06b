import type { Batch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { FilterFields } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Outbound } from './outbound.ts';
import { UNFIT_FOR_TOPICS } from './topics.ts';

/** The property of a trackable that says where in the unified namespace it is. */
export const UNS_PROPERTY = 'com.flowcate.uns';

/**
 * The topic of a trackable in the unified namespace, without empty levels; undefined where it has none, or one that is no
 * topic.
 */
export function unsTopicOf(root: string, trackable: Pick<Trackable, 'properties'> | undefined): string | undefined {
  const path = (trackable?.properties as Readonly<Record<string, unknown>> | null | undefined)?.[UNS_PROPERTY];
  if (typeof path !== 'string') return undefined;
  const levels = path
    .split('/')
    .filter((level) => level !== '')
    .join('/');
  return levels === '' || /[+#]/.test(levels) || UNFIT_FOR_TOPICS.test(levels)
    ? undefined
    : `${root}/${levels}/sensor/wgs84`;
}

interface UnsDeps {
  readonly fanout: Pick<Fanout, 'listen'>;
  trackable(id: string): Trackable | undefined;
  /** All that there are. */
  trackables(): readonly Trackable[];
  readonly publish: Outbound['publish'];
}

const WGS84 = { crs: 'EPSG:4326' };
/** Between two places of a trackable. */
const INTERVAL_MS = 1000;
const NOTHING = new Uint8Array();

/**
 * The unified namespace: where each trackable that has a topic in it was last, retained by the broker. What was said under a
 * topic, in this life of the hub or an earlier one, is taken back, by an empty message, when the trackable gets another one or
 * is deleted.
 */
export class Uns {
  readonly #root: string;
  readonly #deps: UnsDeps;
  /** The topics of trackables, by their ids. The broker may have a place under each. */
  readonly #topics = new Map<string, string>();

  constructor(root: string, deps: UnsDeps) {
    this.#root = root;
    this.#deps = deps;
    const { fanout, trackables } = deps;
    for (const trackable of trackables()) this.#know(trackable.id, trackable);
    fanout.listen(
      { heard: (batch, fields) => this.#moved(batch, fields) },
      { topic: 'trackable_motions', view: WGS84 },
    );
    fanout.listen({ heard: (_, fields) => this.#changed(fields) }, { topic: 'trackable_changes', view: WGS84 });
  }

  /** hot */
  #moved(batch: Batch, fields: readonly FilterFields[]): void {
    const { publish } = this.#deps;
    for (let i = 0; i < batch.count; i++) {
      const topic = this.#topics.get(String(fields[i]?.[0]));
      if (topic === undefined) continue;
      publish(topic, batch.bytesAt(i), { isRetained: true, minIntervalMs: INTERVAL_MS, isMotion: true });
    }
  }

  #changed(fields: readonly FilterFields[]): void {
    const { trackable, publish } = this.#deps;
    const id = String(fields[0]?.[0]);
    const before = this.#topics.get(id);
    this.#know(id, trackable(id));
    if (before === undefined || before === this.#topics.get(id)) return;
    publish(before, NOTHING, { isRetained: true });
  }

  #know(id: string, trackable: Trackable | undefined): void {
    const topic = unsTopicOf(this.#root, trackable);
    if (topic === undefined) this.#topics.delete(id);
    else this.#topics.set(id, topic);
  }
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

/** What the unified namespace says of a place: of a TrackableMotion in EPSG:4326, as JSON text. */
export function placeText(motion: string): string {
  const {
    position,
    floor,
    accuracy,
    speed,
    course,
    timestamp_generated: timestamp,
  } = (JSON.parse(motion) as Motion).location;
  const [longitude, latitude, altitude] = position.coordinates;
  const place = { longitude, latitude, altitude, floor, accuracy, speed, course, timestamp };
  return JSON.stringify(place, (_, value: unknown) => value ?? undefined);
}

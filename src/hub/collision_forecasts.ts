import type { Query, QueryResult } from '../core/item.ts';
import { roundDegrees, roundMeters } from '../core/geo/rounding.ts';
import { type Approach, approaches } from '../core/tracking/approaches.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { CollisionForecast } from '../model/forecast.ts';
import { formatTime } from '../model/time.ts';

interface CollisionForecastsDeps {
  readonly fanout: Pick<Fanout, 'announce' | 'hasSubscribers'>;
  /** Queries the shards of all hubs. */
  read(query: Query): Promise<readonly QueryResult[]>;
  /** Wall-clock time. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  warn(message: string, facts: object): void;
  readonly horizonMs: number;
}

/** Interval between two forecasts. */
const INTERVAL_MS = 1000;
/** Maximum number of trackables of a forecast, the fastest ones, and of forecast pairs, the earliest ones. */
const [BODIES_MAX, PAIRS_MAX] = [2000, 1000] as const;

/**
 * Publishes collision_forecast while it has subscribers: every second, the pairs of trackables that are expected to collide. Each
 * hub of a cluster does so for its own subscribers, from the trackables of all hubs, and stores nothing.
 */
export class CollisionForecasts {
  readonly #deps: CollisionForecastsDeps;
  #cancel: (() => void) | undefined;
  #isFull = false;

  constructor(deps: CollisionForecastsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#cancel = this.#deps.schedule(INTERVAL_MS, () => void this.#forecast());
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #forecast(): Promise<void> {
    const { fanout, read, warn } = this.#deps;
    if (fanout.hasSubscribers('collision_forecast')) {
      try {
        this.#publish(await read({ ask: 'moving', most: BODIES_MAX }));
      } catch (error) {
        warn('Cannot forecast collisions', { error: String(error) });
      }
    }
    if (this.#cancel !== undefined) this.start();
  }

  #publish(answers: readonly QueryResult[]): void {
    const { fanout, now, horizonMs, warn } = this.#deps;
    const all = answers.flatMap((answer) => ('moving' in answer ? answer.moving : []));
    const isFull = all.length > BODIES_MAX;
    if (isFull && !this.#isFull) {
      warn('Collisions are forecast for the fastest trackables only', { trackables: all.length, limit: BODIES_MAX });
    }
    this.#isFull = isFull;
    const speedOf = ({ estimate: { east, north } }: (typeof all)[number]): number => Math.hypot(east, north);
    const bodies = isFull ? all.sort((a, b) => speedOf(b) - speedOf(a)).slice(0, BODIES_MAX) : all;
    const nowMs = now();
    for (const approach of approaches(bodies, { horizonMs, most: PAIRS_MAX })) {
      const { a, b } = approach;
      fanout.announce('collision_forecast', [a.id, b.id, a.floor], () => JSON.stringify(forecastOf(approach, nowMs)));
    }
  }
}

function forecastOf({ a, b, afterMs, meters, probability, position }: Approach, nowMs: number): CollisionForecast {
  return {
    trackable_id: a.id,
    other_trackable_id: b.id,
    timestamp: formatTime(nowMs),
    time: formatTime(nowMs + afterMs),
    distance: roundMeters(meters),
    probability: Math.round(probability * 1000) / 1000,
    position: { type: 'Point', coordinates: position.map(roundDegrees) },
    floor: a.floor,
  };
}

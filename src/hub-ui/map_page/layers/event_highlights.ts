import { useEffect, useState } from 'preact/hooks';
import type { CollisionEvent, FenceEvent } from '../../../model/events.ts';
import { subscribe } from '../../hub/live.ts';
import type { FenceGlow } from '../../map/site/area_layers.tsx';

const GLOW_MS = 1_800;

/** Returns the fences with a very recent entry or exit. */
export function useGlows(): ReadonlyMap<string, FenceGlow> {
  const [glows, setGlows] = useState<ReadonlyMap<string, FenceGlow>>(new Map());
  useEffect(() => {
    const until = new Map<string, { glow: FenceGlow; untilMs: number }>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      const nowMs = Date.now();
      for (const [id, { untilMs }] of until) if (untilMs <= nowMs) until.delete(id);
      setGlows(new Map([...until].map(([id, { glow }]) => [id, glow])));
      clearTimeout(timer);
      const next = Math.min(...[...until.values()].map(({ untilMs }) => untilMs));
      if (Number.isFinite(next)) timer = setTimeout(show, Math.max(50, next - nowMs));
    };
    const end = subscribe(
      'fence_events',
      {},
      {
        events(payload: readonly FenceEvent[]) {
          for (const { fence_id: id, event_type: type } of payload) {
            until.set(id, { glow: type === 'region_entry' ? 'entry' : 'exit', untilMs: Date.now() + GLOW_MS });
          }
          show();
        },
      },
    );
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
  return glows;
}

/** Returns the ids of the currently colliding trackables. */
export function useColliding(): ReadonlySet<string> {
  const [colliding, setColliding] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const pairs = new Map<string, readonly string[]>();
    return subscribe(
      'collision_events',
      {},
      {
        // The hub does not resend collision ends of an interruption.
        subscribed() {
          pairs.clear();
          setColliding(new Set());
        },
        events(payload: readonly CollisionEvent[]) {
          const before = pairs.size;
          for (const { collisions, collision_type: type } of payload) {
            const ids = collisions.map(({ id }) => id).sort();
            const key = ids.join(' ');
            if (type === 'collision_end') pairs.delete(key);
            else pairs.set(key, ids);
          }
          const isSame = pairs.size === before && payload.every(({ collision_type: type }) => type === 'colliding');
          if (!isSame) setColliding(new Set([...pairs.values()].flat()));
        },
      },
    );
  }, []);
  return colliding;
}

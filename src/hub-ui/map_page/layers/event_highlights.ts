import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CollisionEvent, FenceEvent } from '../../../model/events.ts';
import { type Alarms, alertsState } from '../../alerts/alert_store.ts';
import { prefersReducedMotion } from '../../controls/reduced_motion.ts';
import { subscribe } from '../../hub/live.ts';
import { PULSE_MS } from '../../map/objects/symbol_draw.ts';
import type { FenceGlow } from '../../map/site/area_layers.tsx';

const NO_PULSES: ReadonlyMap<string, number> = new Map();
const GLOW_MS = 2_000;
/** Interval between two changes of the highlights: each redraws the layer of fences. */
const FADE_MS = 200;

/** Returns the fences with a recent entry or exit, which fade. */
export function useGlows(): ReadonlyMap<string, FenceGlow> {
  const [glows, setGlows] = useState<ReadonlyMap<string, FenceGlow>>(new Map());
  useEffect(() => {
    const until = new Map<string, { is: 'entry' | 'exit'; untilMs: number }>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      const nowMs = Date.now();
      for (const [id, { untilMs }] of until) if (untilMs <= nowMs) until.delete(id);
      const shown = [...until].map(
        ([id, { is, untilMs }]) => [id, { is, strength: (untilMs - nowMs) / GLOW_MS }] as const,
      );
      setGlows(new Map(shown));
      timer = until.size > 0 ? setTimeout(show, FADE_MS) : undefined;
    };
    const end = subscribe(
      'fence_events',
      {},
      {
        events(payload: readonly FenceEvent[]) {
          for (const { fence_id: id, event_type: type } of payload) {
            until.set(id, { is: type === 'region_entry' ? 'entry' : 'exit', untilMs: Date.now() + GLOW_MS });
          }
          if (timer === undefined) show();
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

/**
 * Returns when objects got a critical alert, by id: those whose alert was raised while the map is open. None if the user
 * prefers reduced motion.
 */
export function usePulses(alarms: Alarms): ReadonlyMap<string, number> {
  const critical = useRef<ReadonlySet<string>>();
  const pulses = useRef<ReadonlyMap<string, number>>(NO_PULSES);
  return useMemo(() => {
    const before = critical.current;
    if (alertsState.value !== 'ready') return NO_PULSES;
    critical.current = new Set([...alarms].flatMap(([id, severity]) => (severity === 'critical' ? [id] : [])));
    if (before === undefined || prefersReducedMotion()) return pulses.current;
    const nowMs = Date.now();
    const recent = [...pulses.current].filter(([, startMs]) => nowMs - startMs < PULSE_MS);
    const added = [...critical.current].filter((id) => !before.has(id));
    if (added.length > 0) pulses.current = new Map([...recent, ...added.map((id) => [id, nowMs] as const)]);
    return pulses.current;
  }, [alarms, alertsState.value]);
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

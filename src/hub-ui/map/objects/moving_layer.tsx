import type OlMap from 'ol/Map.js';
import type { SocketError } from '../../hub/live_socket.ts';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ChangeEvent } from '../../../model/events.ts';
import { prefersReducedMotion } from '../../controls/reduced_motion.ts';
import { subscribe, subscribeMoves } from '../../hub/live.ts';
import { type Plane, unitsPerMeter, viewParams } from '../plane/plane.ts';
import { CanvasLayer, type CanvasFrame } from '../view/canvas_layer.ts';
import type { ColorBy } from '../view/color_by.ts';
import { useMap } from '../view/map_view.tsx';
import { categoryColors, palette } from '../view/palette.ts';
import { useLayer, Z } from '../view/vector_layer.ts';
import type { GlideView } from './glides.ts';
import { drawMoving } from './moving_draw.ts';
import { MovingObjects } from './moving_objects.ts';
import { type MovingLook, newScreen, type OnScreen } from './moving_screen.ts';
import type { LayerSymbol } from './sprites.ts';
import { PULSE_MS } from './symbol_draw.ts';
import { Trail } from './trail.ts';
import { useGroups } from './use_groups.ts';

/** Source of the objects of a layer. */
interface Feed {
  readonly topic: string;
  readonly list: string;
  readonly changes: string;
}

const FEEDS: Readonly<Record<'trackable' | 'provider', Feed>> = {
  trackable: { topic: 'trackable_motions', list: '/trackables/motions', changes: 'trackable_changes' },
  provider: { topic: 'location_updates', list: '/providers/locations', changes: 'provider_changes' },
};

/** A layer of moving objects, with hit tests and tracking. */
export interface MovingLayerState {
  readonly objects: MovingObjects;
  readonly screen: OnScreen;
}

/** Number of visible objects, announced to screen readers. */
export interface Seen {
  readonly seen: number;
  readonly stale: number;
}

export type LayerOptions = Omit<MovingLook, 'palette' | 'colors' | 'trail' | 'symbol'> & {
  readonly symbol: LayerSymbol;
  readonly colorBy: ColorBy;
  /** Id of the followed object, which gets a trail. */
  readonly followedId: string | undefined;
  /** Returns whether an object is marked. Pass a new function when its result changes. */
  readonly isMarked?: ((id: string) => boolean) | undefined;
  /** Called after each drawing of moved objects. */
  readonly onMoved?: (moving: MovingLayerState) => void;
  readonly holder: { current: MovingLayerState | undefined };
  readonly seen: Signal<Seen>;
};

/**
 * Creates a layer of moving objects; its caller moves the objects. Reports the number of visible objects after each drawing.
 */
export function useMovingCanvas({ holder, seen, isMarked, ...given }: LayerOptions, now: () => number) {
  const { plane } = useMap();
  const { symbol, colorBy, followedId } = given;
  const moving = useMemo<MovingLayerState>(() => ({ objects: new MovingObjects(plane), screen: newScreen() }), [plane]);
  holder.current = moving;
  const trail = useMemo(() => (followedId === undefined ? undefined : new Trail()), [followedId, moving]);
  const look = useRef<MovingLook>();
  look.current = { ...given, palette: palette(), colors: colorsOf(symbol, colorBy), trail };
  useMemo(() => moving.objects.markBy(isMarked), [moving, isMarked]);
  const layer = useMemo(() => {
    const draw = (frame: CanvasFrame): void => {
      if (look.current === undefined) return;
      const { trail: way, selectedId } = look.current;
      const index = way && selectedId !== undefined ? moving.objects.indexOf(selectedId) : undefined;
      if (index !== undefined && moving.objects.removed[index] === 0) way?.follow(moving.objects, index);
      drawMoving(frame, moving.objects, look.current, moving.screen, now());
      const { seen: shown, stale } = moving.screen;
      const before = seen.peek();
      if (before.seen !== shown || before.stale !== stale) seen.value = { seen: shown, stale };
    };
    return new CanvasLayer(draw, { zIndex: Z.objects + (symbol === 'trackable' ? 1 : 0) });
  }, [moving, seen, symbol]);
  useLayer(layer);
  useEffect(() => {
    return () => {
      seen.value = { seen: 0, stale: 0 };
    };
  }, [layer, seen]);
  useGroups({ objects: moving.objects, layer }, { symbol, colorBy });
  const { pulses } = given;
  useEffect(() => {
    if (pulses === undefined || pulses.size === 0) return;
    const untilMs = Math.max(...pulses.values()) + PULSE_MS;
    let frame = 0;
    const draw = (): void => {
      layer.redraw();
      if (now() <= untilMs) frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, [pulses, layer]);
  // All other options only affect drawing.
  useEffect(() => layer.redrawSoon());
  return { moving, layer };
}

/** Default color and the colors of the groups. */
function colorsOf(symbol: LayerSymbol, colorBy: ColorBy): readonly string[] {
  const usual = palette()[symbol];
  if (colorBy === 'state') return [usual];
  const { values, other, none } = categoryColors();
  return [usual, ...values, other, none];
}

/**
 * Pause after a frame, by the time that the page took to compute and to paint it: moving objects take at most a quarter of the
 * page's main thread.
 */
const PAUSE = 3;
/** Movements of less than half a pixel are not visible. */
const GLIDE_PIXELS = 0.5;

/**
 * Live trackables or providers. The hub sends only objects of the selected floor; all updates between two frames are drawn
 * once. Between batches, objects glide to their last positions, unless the user prefers reduced motion.
 */
export function MovingLayer({
  onRejected,
  ...options
}: LayerOptions & { readonly onRejected?: (error: SocketError) => void }) {
  const { map, plane } = useMap();
  const { symbol, floor, onMoved } = options;
  const callbacks = useRef({ onMoved, onRejected });
  callbacks.current = { onMoved, onRejected };
  const { moving, layer } = useMovingCanvas(options, Date.now);
  useEffect(() => {
    // Redraws once a second, because objects without new locations fade.
    const tick = setInterval(() => {
      if (!document.hidden) layer.redraw();
    }, 1_000);
    return () => clearInterval(tick);
  }, [layer]);
  useEffect(() => {
    const { topic, list, changes } = FEEDS[symbol];
    const view = viewParams(plane);
    const params = { ...view, ...(floor === undefined ? {} : { floor }) };
    const from = `${list}?${new URLSearchParams(view)}`;
    let frame = 0;
    let pauseUntilMs = 0;
    /** Requests the next batch; undefined while none is drawn. */
    let requestNext: (() => void) | undefined;
    let startMs = 0;
    let isGliding = false;
    // Browsers run no frames of a hidden page.
    const draw = (): void => {
      startMs = performance.now();
      if (startMs < pauseUntilMs) {
        frame = requestAnimationFrame(draw);
        return;
      }
      isGliding = moving.objects.advance(startMs);
      layer.redraw();
      callbacks.current.onMoved?.(moving);
      requestNext?.();
      requestNext = undefined;
      painting.port2.postMessage(undefined);
    };
    // The browser paints a frame right after its callbacks, and handles messages after that.
    const painting = new MessageChannel();
    painting.port1.onmessage = () => {
      const endMs = performance.now();
      pauseUntilMs = endMs + PAUSE * (endMs - startMs);
      if (!isGliding) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    };
    const unsubscribe = subscribeMoves(
      { topic, params, from },
      (batch, next) => {
        moving.objects.take(batch, Date.now(), glideView(map, plane));
        requestNext = next;
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(draw);
      },
      (error) => callbacks.current.onRejected?.(error),
    );
    const endChanges = subscribe(
      changes,
      {},
      {
        events(payload: readonly ChangeEvent[]) {
          for (const { event_type: type, id } of payload) if (type === 'delete') moving.objects.remove(id);
        },
      },
    );
    return () => {
      cancelAnimationFrame(frame);
      painting.port1.close();
      unsubscribe();
      endChanges();
    };
  }, [map, plane, symbol, floor, moving, layer]);
  return null;
}

/** The view in which objects glide; undefined if they do not. */
function glideView(map: OlMap, plane: Plane): GlideView | undefined {
  const view = map.getView();
  const [resolution, center] = [view.getResolution(), view.getCenter()];
  if (prefersReducedMotion() || document.hidden || resolution === undefined || center === undefined) return undefined;
  return {
    atMs: performance.now(),
    extent: view.calculateExtent(map.getSize()),
    step: GLIDE_PIXELS * resolution,
    unitsPerMeter: unitsPerMeter(plane, center),
  };
}

/** Creates the signal for a layer's counts. */
export function useSeenCounts(): Signal<Seen> {
  return useSignal<Seen>({ seen: 0, stale: 0 });
}

/** Returns the id of the object nearest to a pixel, within the width of a finger. */
export function objectAt(
  { objects, screen }: MovingLayerState,
  [px = 0, py = 0]: readonly number[],
  within = 16,
): string | undefined {
  let nearest: number | undefined;
  let best = within * within;
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const distance = (screen.x[i]! - px) ** 2 + (screen.y[i]! - py) ** 2;
    if (distance < best) {
      best = distance;
      nearest = i;
    }
  }
  return nearest === undefined ? undefined : objects.facts[nearest]?.id;
}

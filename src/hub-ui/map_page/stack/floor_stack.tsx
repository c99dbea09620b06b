import Polygon from 'ol/geom/Polygon.js';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { alarmed } from '../../alerts/alert_store.ts';
import { IconButton } from '../../controls/button.tsx';
import { prefersReducedMotion } from '../../controls/reduced_motion.ts';
import { Select } from '../../controls/select.tsx';
import { useNow } from '../../controls/time.ts';
import { setUrlParams, urlParam } from '../../controls/url_state.ts';
import { useEscape } from '../../controls/use_escape.ts';
import { floorNames } from '../../hub/floors.ts';
import { t } from '../../languages/language.ts';
import { countedText } from '../../languages/numbers.ts';
import { fitExtent } from '../../map/navigation/initial_view.ts';
import type { MovingObjects } from '../../map/objects/moving_objects.ts';
import { fenceFeature, zoneFeature } from '../../map/site/features.ts';
import type { Plane } from '../../map/plane/plane.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import type { MovingKindLayer } from '../layers/live_layers.tsx';
import { drawStack } from './stack_draw.ts';
import styles from './floor_stack.module.css';
import { type FloorShapes, projectStack, type StackProjection } from './stack_projection.ts';

/** Duration in which the floors rise from the map. */
const RISE_MS = 360;
/** Interval at which the objects on each floor are counted. */
const COUNT_MS = 1_000;

interface FloorStackProps {
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
  readonly trackables: MovingKindLayer;
  readonly providers: MovingKindLayer;
  /** Handle by which the map redraws the stack after movement. */
  readonly holder: { current: { redraw(): void } | undefined };
}

/** Leaves the stack for the map, with all floors or with one. */
function leave(floor?: number): void {
  setUrlParams({ stack: undefined, building: undefined, floor }, { replace: false });
}

/**
 * The floors of a building one above the other, with their names, objects and numbers of objects. A floor opens on a click or by its
 * button; Escape leads back to the map.
 */
export function FloorStack({ zones, fences, trackables, providers, holder }: FloorStackProps) {
  const { map, plane } = useMap();
  const buildings = useMemo(() => buildingsOf(zones), [zones]);
  const requested = urlParam('building');
  const building = buildings.find(({ name }) => name === requested) ?? buildings[0];
  const floors = useMemo(() => (building ? shapesOf(building.zones, fences, plane) : []), [building, fences, plane]);
  const names = floorNames(building?.zones ?? []);
  const [pointed, setPointed] = useState<number>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, height] = useSize(canvas);
  const area = areaOf(width, height, map.getView().padding);
  const stack = useMemo(() => projectStack(floors, area, 1), [floors, ...Object.values(area)]);
  const objectsOf = (): MovingObjects | undefined => (trackables.layer.current ?? providers.layer.current)?.objects;
  const symbol = trackables.layer.current === undefined ? 'provider' : 'trackable';
  useNow(COUNT_MS);
  const counts = stack && countOn(floors, stack, objectsOf());
  const open = (floor: number): void => {
    const extent = floors.find((each) => each.floor === floor)?.extent;
    leave(floor);
    map.getTargetElement()?.focus();
    if (extent !== undefined) requestAnimationFrame(() => fitExtent(map, [...extent]));
  };
  useEscape(() => {
    leave();
    map.getTargetElement()?.focus();
  });
  useDrawing(holder, (share) => {
    const projection = projectStack(floors, area, share);
    if (canvas.current === null || projection === undefined) return;
    drawStack(canvas.current, {
      floors,
      projection,
      objects: objectsOf(),
      alarms: alarmed.peek()[`${symbol}s`],
      symbol,
      pointed,
      labelsRight: area.left - LABEL_GAP,
      palette: palette(),
    });
  });
  const floorAt = (event: MouseEvent): number | undefined =>
    stack && floorUnder(floors, stack, [event.offsetX, event.offsetY]);
  const title = building?.name ?? '';
  return (
    <section
      class={styles.stack}
      aria-label={title === '' ? t('Floors') : t('Floors of {building}', { building: title })}
    >
      <canvas
        ref={canvas}
        style={{ cursor: pointed === undefined ? undefined : 'pointer' }}
        onPointerMove={(event) => setPointed(floorAt(event))}
        onPointerLeave={() => setPointed(undefined)}
        onClick={(event) => {
          const floor = floorAt(event);
          if (floor !== undefined) open(floor);
        }}
      />
      <header class={styles.head}>
        {buildings.length > 1 ? (
          <Select
            aria-label={t('Building')}
            value={title}
            options={buildings.map(({ name }) => ({ value: name, label: name }))}
            onChange={(name) => setUrlParams({ building: name })}
          />
        ) : (
          <h2>{title === '' ? t('Floors') : title}</h2>
        )}
        <IconButton icon="close" label={t('Close')} onClick={() => leave()} />
      </header>
      {stack &&
        floors
          .map(({ floor }, level) => ({ floor, level, name: names.get(floor), count: counts?.[level] ?? 0 }))
          .reverse()
          .map(({ floor, level, name, count }, index) => (
            <button
              key={floor}
              type="button"
              class={styles.floor}
              style={{
                top: `${middleOf(floors[level], stack, level)}px`,
                left: `${area.left - LABEL_GAP - LABEL_WIDTH}px`,
              }}
              data-pointed={pointed === floor}
              ref={index === 0 ? focusOnce : null}
              onPointerEnter={() => setPointed(floor)}
              onFocus={() => setPointed(floor)}
              onBlur={() => setPointed(undefined)}
              onClick={() => open(floor)}
            >
              <strong>{name ?? t('Floor {floor}', { floor })}</strong>
              <span>{countedText(count, symbol)}</span>
            </button>
          ))}
    </section>
  );
}

const LABEL_WIDTH = 132;
const LABEL_GAP = 20;

/** Area of the floors on the screen, next to their labels and to an open panel. */
function areaOf(width: number, height: number, [top = 0, right = 0, bottom = 0]: readonly number[] = []) {
  const edge = width < 720 ? 12 : 48;
  const left = LABEL_WIDTH + LABEL_GAP + edge;
  return { left, top: top + 72, width: width - left - edge - right, height: height - top - bottom - 72 - 80 };
}

/** Moves the focus to the first floor when the stack opens. */
function focusOnce(button: HTMLButtonElement | null): void {
  if (button !== null && document.activeElement?.closest('section') !== button.closest('section')) button.focus();
}

interface Building {
  readonly name: string;
  readonly zones: readonly Zone[];
}

/** Georeferenced zones by building, the one with the most floors first. If no zone has a building, all are one. */
function buildingsOf(zones: readonly Zone[]): readonly Building[] {
  const placed = zones.filter(({ ground_control_points: points }) => points != null);
  const named = placed.filter(({ building }) => building);
  const groups = Map.groupBy(named.length > 0 ? named : placed, ({ building }) => building ?? '');
  const floorsIn = (each: readonly Zone[]): number => new Set(each.map(({ floor }) => floor ?? 0)).size;
  return [...groups]
    .map(([name, its]) => ({ name, zones: its }))
    .sort((a, b) => floorsIn(b.zones) - floorsIn(a.zones) || (a.name < b.name ? -1 : 1));
}

interface Shaped extends FloorShapes {
  readonly extent: readonly number[];
}

/** Shapes of the floors, the lowest first. Fences without a floor are on no floor of the stack. */
function shapesOf(zones: readonly Zone[], fences: readonly Fence[], plane: Plane): readonly Shaped[] {
  const byFloor = Map.groupBy(zones, ({ floor }) => floor ?? 0);
  return [...byFloor]
    .sort(([a], [b]) => a - b)
    .flatMap(([floor, its]) => {
      const shapes = its.flatMap((zone) => polygonOf(zoneFeature(zone, plane)?.getGeometry()));
      if (shapes.length === 0) return [];
      const extents = shapes.map((polygon) => polygon.getExtent());
      const extent = [0, 1, 2, 3].map((side) =>
        (side < 2 ? Math.min : Math.max)(...extents.map((each) => each[side] ?? 0)),
      );
      const onFloor = fences.filter((fence) => fence.floor === floor);
      return {
        floor,
        extent,
        zones: shapes.map((polygon) => polygon.getCoordinates()),
        fences: onFloor.flatMap((fence) =>
          polygonOf(fenceFeature(fence, plane)?.getGeometry()).map((polygon) => polygon.getCoordinates()),
        ),
      };
    });
}

function polygonOf(geometry: unknown): Polygon[] {
  return geometry instanceof Polygon ? [geometry] : [];
}

/** Row of the middle of a floor, in pixels. */
function middleOf(shapes: Shaped | undefined, stack: StackProjection, level: number): number {
  const rows = (shapes?.zones ?? []).flatMap(([ring = []]) =>
    ring.map(([x = 0, y = 0]) => stack.toPixel(x, y, level)[1]),
  );
  return (Math.min(...rows) + Math.max(...rows)) / 2;
}

/** Numbers of objects on the floors of a building. */
function countOn(
  floors: readonly FloorShapes[],
  stack: StackProjection,
  objects: MovingObjects | undefined,
): readonly number[] {
  const levels = new Map(floors.map(({ floor }, level) => [floor, level]));
  const counts = floors.map(() => 0);
  for (let i = 0; objects !== undefined && i < objects.count; i++) {
    const level = levels.get(objects.floor[i]!);
    if (level === undefined || objects.removed[i] === 1 || !stack.isInside(objects.x[i]!, objects.y[i]!)) continue;
    counts[level]!++;
  }
  return counts;
}

/** The topmost floor under a pixel. */
function floorUnder(
  floors: readonly FloorShapes[],
  stack: StackProjection,
  pixel: readonly [number, number],
): number | undefined {
  for (let level = floors.length - 1; level >= 0; level--) {
    const { zones, floor } = floors[level]!;
    const isUnder = zones.some(([ring = []]) =>
      new Polygon([ring.map(([x = 0, y = 0]) => [...stack.toPixel(x, y, level)])]).intersectsCoordinate([...pixel]),
    );
    if (isUnder) return floor;
  }
  return undefined;
}

/** Draws when the component is rendered, while the floors rise, and after movements. `share`: how far they have risen. */
function useDrawing(holder: FloorStackProps['holder'], draw: (share: number) => void): void {
  const drawing = useRef(draw);
  drawing.current = draw;
  const schedule = useRef(() => {});
  useEffect(() => {
    const startMs = performance.now();
    let frame = 0;
    const run = (): void => {
      frame = 0;
      const passed = prefersReducedMotion() ? 1 : Math.min(1, (performance.now() - startMs) / RISE_MS);
      drawing.current(1 - (1 - passed) ** 3);
      if (passed < 1) schedule.current();
    };
    schedule.current = () => {
      if (frame === 0) frame = requestAnimationFrame(run);
    };
    holder.current = { redraw: () => schedule.current() };
    return () => {
      cancelAnimationFrame(frame);
      holder.current = undefined;
    };
  }, [holder]);
  useEffect(() => schedule.current());
}

/** Size of an element in CSS pixels. */
function useSize(of: { readonly current: HTMLElement | null }): readonly [number, number] {
  const [size, setSize] = useState<readonly [number, number]>([0, 0]);
  useEffect(() => {
    const element = of.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setSize([element.clientWidth, element.clientHeight]));
    observer.observe(element);
    return () => observer.disconnect();
  }, [of]);
  return size;
}

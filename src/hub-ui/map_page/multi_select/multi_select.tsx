import Feature from 'ol/Feature.js';
import type Geometry from 'ol/geom/Geometry.js';
import LineString from 'ol/geom/LineString.js';
import Point from 'ol/geom/Point.js';
import Polygon from 'ol/geom/Polygon.js';
import PointerInteraction from 'ol/interaction/Pointer.js';
import VectorLayer from 'ol/layer/Vector.js';
import type OlMap from 'ol/Map.js';
import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import VectorSource from 'ol/source/Vector.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { BulkDialog } from '../../bulk/bulk_dialog.tsx';
import { CopyDialog } from '../../bulk/copy_dialog.tsx';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import { Icon, type IconName } from '../../controls/icons.tsx';
import typography from '../../controls/typography.module.css';
import { can } from '../../hub/access.ts';
import { type Entities, type Kind, SINGULAR } from '../../hub/entity_kinds.ts';
import { entityPath } from '../../hub/rest.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countedText } from '../../languages/numbers.ts';
import type { MovingLayers } from '../../map/navigation/go_to.ts';
import { drawnBy } from '../../map/site/features.ts';
import type { LayerName, MapSelection } from '../../map/view/map_url.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { Z } from '../../map/view/vector_layer.ts';
import styles from './multi_select.module.css';
import { addSelected, selectedIds, clearSelected, removeKind } from './multi_selection.ts';

const KINDS: readonly Kind[] = ['trackables', 'providers', 'fences', 'zones', 'anchors'];
/** Pointer movement below this distance is a click. */
const DRAG_MIN_PIXELS = 6;
/** Distance between the points of a lasso. */
const STEP_PIXELS = 4;

type Shape = 'lasso' | 'rectangle';

/** Moving objects, and the filters that decide which are visible. */
interface VisibleObjects extends MovingLayers {
  readonly layers: ReadonlySet<LayerName>;
  readonly floor: number | undefined;
}

interface MultiSelectProps extends VisibleObjects {
  /** Whether the selection tool is active; otherwise only the selection is shown. */
  readonly isSelecting: boolean;
  readonly onClose: () => void;
}

/** Tool that selects many entities by lasso, rectangle or clicks, and edits or copies them. */
export function MultiSelect({ isSelecting, onClose, ...shown }: MultiSelectProps) {
  const [shape, setShape] = useState<Shape>('lasso');
  const [dialog, setDialog] = useState<{ readonly what: 'change' | 'copy'; readonly kind: Kind }>();
  const ids = selectedIds.value;
  const close = (): void => {
    clearSelected();
    onClose();
  };
  useEscape(close);
  const kinds = KINDS.filter((kind) => ids.has(kind));
  return (
    <>
      <Highlights />
      {isSelecting && <ShapeTool shape={shape} {...shown} />}
      {isSelecting && (
        <div class={styles.hint}>
          <Choice
            label={t('Select by')}
            value={shape}
            onChange={setShape}
            options={[
              { value: 'lasso', label: t('Lasso') },
              { value: 'rectangle', label: t('Rectangle') },
            ]}
          />
          <span class={styles.text}>{t('Draw around things, or click them one by one.')}</span>
          <IconButton icon="close" label={t('Stop selecting')} onClick={close} />
        </div>
      )}
      {kinds.length > 0 && (
        <section class={styles.chosen} aria-label={t('Selected on the map')} data-chosen>
          {kinds.map((kind) => (
            <SelectedKind
              key={kind}
              kind={kind}
              count={ids.get(kind)?.size ?? 0}
              onOpen={(what) => setDialog({ what, kind })}
            />
          ))}
          <div class={styles.end}>
            <span class={typography.faint}>{t('Shift-click adds or leaves out one.')}</span>
            <Button kind="quiet" onClick={clearSelected}>
              {t('Clear')}
            </Button>
          </div>
        </section>
      )}
      {dialog?.what === 'change' && (
        <BulkDialog
          kind={dialog.kind}
          entities={selectedEntitiesOf(dialog.kind)}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog?.what === 'copy' && (
        <CopyDialog ids={[...(ids.get('fences') ?? [])]} onClose={() => setDialog(undefined)} />
      )}
    </>
  );
}

function SelectedKind({
  kind,
  count,
  onOpen,
}: {
  readonly kind: Kind;
  readonly count: number;
  readonly onOpen: (what: 'change' | 'copy') => void;
}) {
  const text = countedText(count, SINGULAR[kind]);
  return (
    <div class={styles.kind}>
      <Icon name={SINGULAR[kind] as IconName} />
      <strong>{text}</strong>
      {kind === 'fences' && can('CREATE', '/fences') && (
        <Button icon="copy" aria-label={t('Copy {what}', { what: text })} onClick={() => onOpen('copy')}>
          {t('Copy')}
        </Button>
      )}
      {can('UPDATE', entityPath(kind, 'any')) && (
        <Button icon="edit" aria-label={t('Change {what}', { what: text })} onClick={() => onOpen('change')}>
          {t('Change')}
        </Button>
      )}
      <IconButton icon="close" label={t('Leave out {what}', { what: text })} onClick={() => removeKind(kind)} />
    </div>
  );
}

/** Returns the selected entities of a kind, without those that were deleted in the meantime. */
function selectedEntitiesOf<K extends Kind>(kind: K): readonly Entities[K][] {
  const items = storeOf(kind).items.peek();
  return [...(selectedIds.peek().get(kind) ?? [])].flatMap((id) => items.get(id) ?? []);
}

/** Closes the tool on Escape, unless a dialog is open. */
function useEscape(close: () => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) close();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/** Draws a shape with the pointer and selects the entities whose center is inside it. */
function ShapeTool({ shape, ...given }: VisibleObjects & { readonly shape: Shape }) {
  const { map } = useMap();
  const visible = useRef<VisibleObjects>(given);
  visible.current = given;
  const { selected, halo } = palette();
  // Runs before the hint is painted, because the user may draw at once.
  useLayoutEffect(() => {
    const feature = new Feature<Polygon>();
    const layer = new VectorLayer({
      source: new VectorSource({ features: [feature] }),
      zIndex: Z.edit,
      style: [
        new Style({ stroke: new Stroke({ color: halo, width: 5 }), fill: new Fill({ color: `${selected}1f` }) }),
        new Style({ stroke: new Stroke({ color: selected, width: 2, lineDash: [6, 4] }) }),
      ],
    });
    let pixels: number[][] = [];
    const outline = (): Polygon => {
      const [first = [0, 0], last = first] = [pixels[0], pixels.at(-1)];
      const [[left = 0, top = 0], [right = 0, bottom = 0]] = [first, last];
      const corners = [first, [right, top], last, [left, bottom]];
      const points = shape === 'lasso' ? pixels : corners;
      return new Polygon([[...points, points[0] ?? first].map((pixel) => map.getCoordinateFromPixel(pixel))]);
    };
    const isDrag = (): boolean => pixels.some((pixel) => distance(pixel, pixels[0]) >= DRAG_MIN_PIXELS);
    const tool = new PointerInteraction({
      handleDownEvent({ pixel, originalEvent }: MapBrowserEvent) {
        if (originalEvent instanceof PointerEvent && originalEvent.button !== 0) return false;
        pixels = [pixel];
        return true;
      },
      handleDragEvent({ pixel }: MapBrowserEvent) {
        if (distance(pixel, pixels.at(-1)) < STEP_PIXELS) return;
        pixels.push(pixel);
        feature.setGeometry(outline());
      },
      handleUpEvent() {
        if (isDrag()) addSelected(within(map, outline(), visible.current));
        feature.setGeometry(undefined);
        return false;
      },
    });
    map.addLayer(layer);
    map.addInteraction(tool);
    return () => {
      map.removeInteraction(tool);
      map.removeLayer(layer);
    };
  }, [map, shape, selected, halo]);
  return null;
}

function distance([x = 0, y = 0]: readonly number[], [otherX = 0, otherY = 0]: readonly number[] = []): number {
  return Math.hypot(x - otherX, y - otherY);
}

/** Visible entities whose center is in an area of the map. */
function within(map: OlMap, area: Polygon, { trackables, providers, layers, floor }: VisibleObjects): MapSelection[] {
  const found: MapSelection[] = [];
  for (const [drawn, geometry] of drawnOn(map)) {
    const [x = 0, y = 0] = middleOf(geometry);
    if (area.intersectsCoordinate([x, y])) found.push(drawn);
  }
  for (const [kind, { current }] of [['trackables', trackables] as const, ['providers', providers] as const]) {
    const isOnlyMarked = kind === 'providers' && !layers.has('providers');
    if (current === undefined || !(layers.has(kind) || (isOnlyMarked && layers.has('unassigned')))) continue;
    const { objects } = current;
    for (let i = 0; i < objects.count; i++) {
      if (objects.removed[i] === 1 || (isOnlyMarked && objects.marked[i] === 0)) continue;
      if (floor !== undefined && objects.floor[i] !== floor) continue;
      const { id } = objects.facts[i] ?? {};
      const place: [number, number] = [objects.x[i] ?? 0, objects.y[i] ?? 0];
      if (id !== undefined && area.intersectsCoordinate(place)) found.push({ kind, id });
    }
  }
  return found;
}

/** Features of all layers that represent an entity, with their geometries. */
function* drawnOn(map: OlMap): Iterable<readonly [MapSelection, Geometry]> {
  for (const layer of map.getAllLayers()) {
    const source = layer instanceof VectorLayer ? (layer.getSource() as VectorSource | null) : null;
    for (const feature of source?.getFeatures() ?? []) {
      const [drawn, geometry] = [drawnBy(feature), feature.getGeometry()];
      if (drawn !== undefined && geometry !== undefined) yield [drawn, geometry];
    }
  }
}

function middleOf(geometry: Geometry): readonly number[] {
  if (geometry instanceof Polygon) return geometry.getInteriorPoint().getCoordinates();
  if (geometry instanceof LineString) return geometry.getCoordinateAt(0.5);
  return geometry instanceof Point ? geometry.getCoordinates() : [Number.NaN, Number.NaN];
}

/** Highlights selected areas and points. The layers of moving objects draw their own rings. */
function Highlights() {
  const { map } = useMap();
  const { selected, halo } = palette();
  const ids = selectedIds.value;
  const style = useMemo(() => {
    const ring = new CircleStyle({ radius: 9, stroke: new Stroke({ color: selected, width: 2.5 }) });
    return [
      new Style({ stroke: new Stroke({ color: halo, width: 5 }) }),
      new Style({ stroke: new Stroke({ color: selected, width: 2.5 }), image: ring }),
    ];
  }, [selected, halo]);
  useLayoutEffect(() => {
    const features = [...drawnOn(map)].flatMap(([{ kind, id }, geometry]) =>
      ids.get(kind)?.has(id) ? [new Feature(geometry.clone())] : [],
    );
    const layer = new VectorLayer({ source: new VectorSource({ features }), style, zIndex: Z.objects - 0.5 });
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
    };
  }, [map, ids, style]);
  return null;
}

import Feature from 'ol/Feature.js';
import type Geometry from 'ol/geom/Geometry.js';
import LineString from 'ol/geom/LineString.js';
import Point from 'ol/geom/Point.js';
import Polygon from 'ol/geom/Polygon.js';
import VectorLayer from 'ol/layer/Vector.js';
import type OlMap from 'ol/Map.js';
import VectorSource from 'ol/source/Vector.js';
import CircleStyle from 'ol/style/Circle.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { BulkDialog } from '../../bulk/bulk_dialog.tsx';
import { CopyDialog } from '../../bulk/copy_dialog.tsx';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import { useEscape } from '../../controls/use_escape.ts';
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
import { type DrawnShape, useDrawnShape } from '../../map/view/draw_shape.ts';
import type { LayerName, MapSelection } from '../../map/view/map_url.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { Z } from '../../map/view/vector_layer.ts';
import styles from './multi_select.module.css';
import { addSelected, selectedIds, clearSelected, removeKind } from './multi_selection.ts';

const KINDS: readonly Kind[] = ['trackables', 'providers', 'fences', 'zones', 'anchors'];

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
  const [shape, setShape] = useState<DrawnShape>('lasso');
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
            <span class={typography.faint}>{t('Shift-click adds or removes one.')}</span>
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
      <IconButton
        icon="close"
        label={t('Remove {what} from the selection', { what: text })}
        onClick={() => removeKind(kind)}
      />
    </div>
  );
}

/** Returns the selected entities of a kind, without those that were deleted in the meantime. */
function selectedEntitiesOf<K extends Kind>(kind: K): readonly Entities[K][] {
  const items = storeOf(kind).items.peek();
  return [...(selectedIds.peek().get(kind) ?? [])].flatMap((id) => items.get(id) ?? []);
}

/** Draws a shape with the pointer and selects the entities inside it. */
function ShapeTool({ shape, ...visible }: VisibleObjects & { readonly shape: DrawnShape }) {
  const { map } = useMap();
  useDrawnShape(shape, (area) => addSelected(within(map, area, visible)));
  return null;
}

/** Visible objects whose position is in an area of the map, and fences, zones and anchors that are mostly in it. */
function within(map: OlMap, area: Polygon, { trackables, providers, layers, floor }: VisibleObjects): MapSelection[] {
  const found: MapSelection[] = [];
  for (const [drawn, geometry] of drawnOn(map)) {
    if (isMostlyIn(area, geometry)) found.push(drawn);
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

/**
 * Whether the center of a geometry and at least half of its corners are in an area. So a lasso inside a building selects
 * what is in the building, but not the building.
 */
function isMostlyIn(area: Polygon, geometry: Geometry): boolean {
  const isIn = ([x = 0, y = 0]: readonly number[]): boolean => area.intersectsCoordinate([x, y]);
  if (!isIn(middleOf(geometry))) return false;
  if (!(geometry instanceof Polygon)) return true;
  const corners = (geometry.getCoordinates()[0] ?? []).slice(1);
  return 2 * corners.filter(isIn).length >= corners.length;
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

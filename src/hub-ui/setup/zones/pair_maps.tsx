import { useMemo, useState } from 'preact/hooks';
import type { Zone } from '../../../model/zone.ts';
import { t } from '../../languages/language.ts';
import { BaseLayer } from '../../map/ground/base_layer.tsx';
import { EARTH, fromMap, type MapPoint, type Plane, type Position, planeOfZone, toMap } from '../../map/plane/plane.ts';
import { ZoneLayer } from '../../map/site/area_layers.tsx';
import { PlanLayer } from '../../map/site/plan_layer.tsx';
import { ScaleBar } from '../../map/view/map_tools.tsx';
import { MapView, useMap } from '../../map/view/map_view.tsx';
import { movedTo } from '../fields/position_fields.tsx';
import { ContextMap } from '../map/context_map.tsx';
import { MapHint } from '../map/map_hint.tsx';
import { type PlacedPoint, PointsLayer } from '../map/points_layer.tsx';
import { extentAround, FitExtent, ImageLayer, type PlanImage } from './image_layer.tsx';
import styles from './pair_maps.module.css';
import type { Pair } from './pairs.ts';

interface PairMapsProps {
  readonly zone: Zone;
  readonly pairs: readonly Pair[];
  /** Plan to georeference; undefined for the zone's own meters. */
  readonly image?: PlanImage | undefined;
  readonly selected: number | undefined;
  readonly onSelect: (index: number | undefined) => void;
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** Point without a counterpart on the other map so far. */
type Waiting = { readonly on: 'earth' | 'own'; readonly at: Position };

/**
 * Map and plan side by side. One click on each, in either order, makes a pair of control points; points can be dragged.
 */
export function PairMaps(props: PairMapsProps) {
  const { zone, pairs, image, selected, onSelect, onChange } = props;
  const [waiting, setWaiting] = useState<Waiting>();
  const place = (on: Waiting['on'], at: Position): void => {
    if (waiting === undefined || waiting.on === on) {
      setWaiting({ on, at });
      return;
    }
    const pair = on === 'earth' ? { earth: at, own: waiting.at } : { earth: waiting.at, own: at };
    setWaiting(undefined);
    onChange([...pairs, pair]);
    onSelect(pairs.length);
  };
  const move = (on: Waiting['on'], index: number, to: [number, number]): void => {
    const pair = pairs[index];
    if (pair === undefined) setWaiting({ on, at: to });
    else onChange(pairs.with(index, { ...pair, [on]: movedTo(pair[on], to) }));
  };
  const other = image === undefined ? t("the zone's own meters") : t('the plan');
  const side = { pairs, waiting, selected, onSelect, place, move };
  return (
    <div class={styles.pair}>
      <div class={styles.pane}>
        <ContextMap plane={EARTH} label={t('Map: points on the earth')} zone={zone} floor={zone.floor ?? 0}>
          <Side {...side} on="earth" rowsAreDown={false} />
        </ContextMap>
        <MapHint>{waiting?.on === 'own' ? t('Now click the same point here') : t('Click a point here …')}</MapHint>
      </div>
      <div class={styles.pane}>
        <OwnMap zone={zone} image={image} pairs={pairs}>
          <Side {...side} on="own" rowsAreDown={image !== undefined} />
        </OwnMap>
        <MapHint>
          {waiting?.on === 'earth' ? t('Now click the same point here') : t('… and the same one on {other}', { other })}
        </MapHint>
      </div>
    </div>
  );
}

interface SideProps {
  readonly on: Waiting['on'];
  readonly rowsAreDown: boolean;
  readonly pairs: readonly Pair[];
  readonly waiting: Waiting | undefined;
  readonly selected: number | undefined;
  readonly onSelect: (index: number | undefined) => void;
  readonly place: (on: Waiting['on'], at: Position) => void;
  readonly move: (on: Waiting['on'], index: number, to: [number, number]) => void;
}

/** Points on one of the two maps. */
function Side({ on, rowsAreDown, pairs, waiting, selected, onSelect, place, move }: SideProps) {
  const { plane } = useMap();
  const points = useMemo(() => {
    const placed: PlacedPoint[] = pairs.map((pair, i) => ({
      at: upright(toMap(plane, pair[on]), rowsAreDown),
      label: String(i + 1),
    }));
    if (waiting?.on !== on) return placed;
    return [...placed, { at: upright(toMap(plane, waiting.at), rowsAreDown), label: '?', isPending: true }];
  }, [pairs, waiting, on, plane, rowsAreDown]);
  const read = (point: MapPoint): [number, number] => fromMap(plane, upright(point, rowsAreDown));
  return (
    <PointsLayer
      points={points}
      selected={selected}
      onMove={(index, to) => move(on, index, read(to))}
      onSelect={onSelect}
      onPlace={(at) => place(on, read(at))}
    />
  );
}

function upright([x, y]: MapPoint, rowsAreDown: boolean): MapPoint {
  return rowsAreDown ? [x, -y] : [x, y];
}

/** Map of the other plane: the zone's meters with its plan, or the pixels of the plan. */
function OwnMap({
  zone,
  image,
  pairs,
  children,
}: Pick<PairMapsProps, 'zone' | 'image' | 'pairs'> & { readonly children: preact.ComponentChildren }) {
  const plane = useMemo<Plane>(
    () => (image === undefined ? planeOfZone(zone) : { kind: 'zone', id: `${zone.id} plan`, zone }),
    [zone.id, image === undefined],
  );
  const zones = useMemo(() => [zone], [zone]);
  const label = image === undefined ? t("The zone's own meters") : t('Plan');
  return (
    <MapView plane={plane} label={label}>
      {image === undefined ? <BaseLayer /> : <ImageLayer image={image} />}
      {image === undefined && <PlanLayer zones={zones} opacity={0.75} />}
      {image === undefined && <ZoneLayer zones={zones} labels={false} />}
      <FitExtent
        extent={image === undefined ? extentAround(pairs.map(({ own }) => own)) : [0, -image.height, image.width, 0]}
      />
      {image === undefined && <ScaleBar />}
      {children}
    </MapView>
  );
}

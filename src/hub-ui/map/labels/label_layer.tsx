import Polygon from 'ol/geom/Polygon.js';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import type { MovingLayerState } from '../objects/moving_layer.tsx';
import { areaOf, type MapArea, markInside } from '../objects/moving_objects.ts';
import { fenceFeature, zoneFeature } from '../site/features.ts';
import { CanvasLayer } from '../view/canvas_layer.ts';
import type { MapSelection } from '../view/map_url.ts';
import { useMap } from '../view/map_view.tsx';
import { palette } from '../view/palette.ts';
import { Z } from '../view/vector_layer.ts';
import { LabelBoard, type NamedArea, type NamesShown, type Emphasis } from './label_board.ts';

/** Interval at which objects inside fences are determined. */
const INSIDE_MS = 1_000;

/** A kind of moving objects, with its layer once that exists. */
interface MovingKind {
  readonly layer: { readonly current: MovingLayerState | undefined };
}

/** Layer with the labels of areas, trackables and providers, which share the space. */
export function LabelLayer({
  shown,
  hasAreaNames,
  scale,
  zones,
  fences,
  trackables,
  providers,
  selection,
  alarmed,
  alarmedProviders,
  holder,
}: {
  readonly shown: NamesShown;
  /** Whether zones and fences have labels here; otherwise another layer names them. */
  readonly hasAreaNames: boolean;
  readonly scale: number;
  /** Zones and fences of the visible layers. */
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
  readonly trackables: MovingKind;
  readonly providers: MovingKind;
  readonly selection: MapSelection | undefined;
  /** Trackables and providers with an alert, and colliding ones, by id. */
  readonly alarmed: ReadonlyMap<string, Emphasis>;
  readonly alarmedProviders: ReadonlyMap<string, Emphasis>;
  /** Handle by which other layers redraw the labels after movement. */
  readonly holder: { current: { redraw(): void } | undefined };
}) {
  const { map, plane } = useMap();
  const areas = useMemo(() => areasOf(zones, fences, plane), [zones, fences, plane]);
  const selectedId = (kind: MapSelection['kind']) => (selection?.kind === kind ? selection.id : undefined);
  const [zoneId, fenceId] = [selectedId('zones'), selectedId('fences')];
  const named = useMemo<readonly NamedArea[]>(
    () =>
      (hasAreaNames ? areas : []).map((each) => ({
        ...each,
        isSelected: each.id === (each.kind === 'zones' ? zoneId : fenceId),
      })),
    [areas, hasAreaNames, zoneId, fenceId],
  );
  const look = useRef({ shown, scale, palette: palette(), named, selectedId, alarmed, alarmedProviders });
  look.current = { shown, scale, palette: palette(), named, selectedId, alarmed, alarmedProviders };
  const layer = useMemo(() => {
    const board = new LabelBoard();
    const made = new CanvasLayer(
      (frame) => {
        const { named: its, selectedId: idOf, ...now } = look.current;
        const objects = [
          {
            kind: 'trackables',
            moving: trackables.layer.current,
            selectedId: idOf('trackables'),
            alarmed: now.alarmed,
          },
          {
            kind: 'providers',
            moving: providers.layer.current,
            selectedId: idOf('providers'),
            alarmed: now.alarmedProviders,
          },
        ] as const;
        board.draw(
          frame,
          { shown: now.shown, scale: now.scale, palette: now.palette, areas: its, objects },
          Date.now(),
        );
      },
      { zIndex: Z.labels },
    );
    return { layer: made, board };
  }, [trackables.layer, providers.layer]);
  useEffect(() => {
    const { layer: own, board } = layer;
    map.addLayer(own);
    holder.current = own;
    const redraw = (): void => {
      board.forget();
      own.redraw();
    };
    document.fonts.addEventListener('loadingdone', redraw);
    return () => {
      document.fonts.removeEventListener('loadingdone', redraw);
      holder.current = undefined;
      map.removeLayer(own);
    };
  }, [map, layer, holder]);
  useInside(areas, trackables);
  useEffect(() => layer.layer.redrawSoon());
  return null;
}

interface LabeledArea extends Omit<NamedArea, 'isSelected'>, MapArea {
  readonly id: string;
}

function areasOf(
  zones: readonly Zone[],
  fences: readonly Fence[],
  plane: Parameters<typeof zoneFeature>[1],
): LabeledArea[] {
  const all = [
    ...zones.map((zone) => ({ entity: zone, kind: 'zones' as const, feature: zoneFeature(zone, plane) })),
    ...fences.map((fence) => ({ entity: fence, kind: 'fences' as const, feature: fenceFeature(fence, plane) })),
  ];
  return all.flatMap(({ entity, kind, feature }) => {
    const polygon = feature?.getGeometry();
    if (!(polygon instanceof Polygon)) return [];
    const { id, floor } = entity;
    return { id, key: `${kind} ${id}`, kind, text: labelOf(entity), polygon, ...areaOf(polygon, floor) };
  });
}

/** Marks the trackables that are inside a fence, once per second. */
function useInside(areas: readonly LabeledArea[], { layer }: MovingKind): void {
  useEffect(() => {
    const fences = areas.filter(({ kind }) => kind === 'fences');
    const look = (): void => {
      if (layer.current !== undefined) markInside(layer.current.objects, fences);
    };
    look();
    const timer = setInterval(look, INSIDE_MS);
    return () => clearInterval(timer);
  }, [areas, layer]);
}

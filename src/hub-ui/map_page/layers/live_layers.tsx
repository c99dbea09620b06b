import type { Signal } from '@preact/signals';
import { useCallback, useMemo } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { type Alarms, alarmed as alerted } from '../../alerts/alert_store.ts';
import { toast } from '../../controls/toasts.tsx';
import { trackablesByProvider } from '../../hub/carriers.ts';
import { BaseLayer } from '../../map/ground/base_layer.tsx';
import type { Emphasis } from '../../map/labels/label_board.ts';
import { LabelLayer } from '../../map/labels/label_layer.tsx';
import { type MovingLayerState, MovingLayer, type Seen } from '../../map/objects/moving_layer.tsx';
import { AnchorLayer } from '../../map/site/anchor_layer.tsx';
import { type FenceGlow, FenceLayer, ZoneLayer } from '../../map/site/area_layers.tsx';
import { BuildingLayer } from '../../map/site/building_layer.tsx';
import { fenceColors } from '../../map/site/fence_colors.ts';
import { PlanLayer } from '../../map/site/plan_layer.tsx';
import {
  colorByFromUrl,
  fencesByFromUrl,
  type LayerName,
  namesFromUrl,
  type MapSelection,
} from '../../map/view/map_url.ts';
import { categoryColors } from '../../map/view/palette.ts';
import { scaleOfMap } from '../../map/view/wall_mode.ts';
import type { SocketError } from '../../hub/live_socket.ts';
import { loadMessages, sentenceOf } from '../../problems/sentences.ts';
import { selectedIds } from '../multi_select/multi_selection.ts';
import { useColliding, useGlows, usePulses } from './event_highlights.ts';

/** Moving objects of one kind: their layer once it exists, and the number of visible ones. */
export interface MovingKindLayer {
  readonly layer: { current: MovingLayerState | undefined };
  readonly seen: Signal<Seen>;
}

export interface LiveLayersProps {
  readonly layers: ReadonlySet<LayerName>;
  readonly floor: number | undefined;
  readonly selection: MapSelection | undefined;
  readonly isFollowing: boolean;
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
  readonly anchors: readonly Anchor[];
  readonly zoneOf: (anchor: Anchor) => Zone | undefined;
  readonly trackables: MovingKindLayer;
  readonly providers: MovingKindLayer;
  /** Handle of the label layer, to redraw it after movement. */
  readonly labels: { current: { redraw(): void } | undefined };
  /** Whether the map is in playback, which has its own layers. */
  readonly isPast: boolean;
  /** Called after each batch. */
  readonly onMoved: (kind: 'trackables' | 'providers', moving: MovingLayerState) => void;
}

const NONE: ReadonlySet<string> = new Set();
const NO_ALARMS: Alarms = new Map();
const NO_ZONES: readonly Zone[] = [];
const NO_FENCES: readonly Fence[] = [];
const NO_GLOWS: ReadonlyMap<string, FenceGlow> = new Map();

/** Enabled layers of the live map, bottom to top. */
export function LiveLayers(props: LiveLayersProps) {
  const { layers, selection, zones, fences, anchors, zoneOf, trackables, providers, labels, isPast, onMoved } = props;
  const names = namesFromUrl(layers);
  const { trackables: alarmed, providers: alarmedProviders, fences: alarmedFences } = alerted.value;
  const colliding = useColliding();
  const pulses = { trackables: usePulses(alarmed), providers: usePulses(alarmedProviders) };
  const emphasized = useMemo(
    () => new Map<string, Emphasis>([...[...colliding].map((id) => [id, 'collision'] as const), ...alarmed]),
    [colliding, alarmed],
  );
  const glowing = useGlows();
  const glows = useMemo(() => withAlarms(glowing, alarmedFences), [glowing, alarmedFences]);
  const selectedId = (kind: MapSelection['kind']): string | undefined =>
    selection?.kind === kind ? selection.id : undefined;
  const fencesBy = fencesByFromUrl();
  const categories = categoryColors();
  const colorsOf = useMemo(
    () => (fencesBy === undefined ? undefined : fenceColors(fences, fencesBy, categories)),
    [fences, fencesBy, categories],
  );
  const look = movingLayerProps(props);
  const assigned = trackablesByProvider.value;
  const isUnassigned = useCallback((id: string) => !assigned.has(id), [assigned]);
  const movingProps = (kind: 'trackables' | 'providers') => ({
    ...look,
    multiSelected: selectedIds.value.get(kind),
    selectedId: selectedId(kind),
    holder: props[kind].layer,
    seen: props[kind].seen,
    onMoved: (moving: MovingLayerState) => onMoved(kind, moving),
    onRejected: showRejection,
  });
  return (
    <>
      <BaseLayer />
      {layers.has('buildings') && <BuildingLayer zones={zones} fences={layers.has('fences') ? fences : NO_FENCES} />}
      {layers.has('plans') && <PlanLayer zones={zones} />}
      {layers.has('zones') && <ZoneLayer zones={zones} selectedId={selectedId('zones')} labels={false} />}
      {layers.has('fences') && (
        <FenceLayer
          fences={fences}
          selectedId={selectedId('fences')}
          glows={isPast ? NO_GLOWS : glows}
          colorsOf={colorsOf}
          labels={false}
        />
      )}
      {layers.has('anchors') && (
        <AnchorLayer anchors={anchors} zoneOf={zoneOf} selectedId={selectedId('anchors')} labels={names !== 'off'} />
      )}
      {(layers.has('providers') || layers.has('unassigned')) && !isPast && (
        <MovingLayer
          {...movingProps('providers')}
          symbol="provider"
          marked={{ symbol: 'unassigned', isOnly: !layers.has('providers') }}
          isMarked={isUnassigned}
          colliding={NONE}
          alarms={alarmedProviders}
          pulses={pulses.providers}
        />
      )}
      {layers.has('trackables') && !isPast && (
        <MovingLayer
          {...movingProps('trackables')}
          symbol="trackable"
          colliding={colliding}
          alarms={alarmed}
          pulses={pulses.trackables}
        />
      )}
      {names !== 'off' && (
        <LabelLayer
          shown={names}
          hasAreaNames={!layers.has('buildings')}
          scale={look.scale}
          zones={layers.has('zones') ? zones : NO_ZONES}
          fences={layers.has('fences') ? fences : NO_FENCES}
          trackables={trackables}
          providers={providers}
          selection={selection}
          alarmed={isPast ? NO_ALARMS : emphasized}
          alarmedProviders={isPast ? NO_ALARMS : alarmedProviders}
          holder={labels}
        />
      )}
    </>
  );
}

/** Adds fences with an alert to the highlights. Recent events take precedence. */
function withAlarms(glows: ReadonlyMap<string, FenceGlow>, alarmed: Alarms): ReadonlyMap<string, FenceGlow> {
  return new Map([...[...alarmed].map(([id, is]) => [id, { is, strength: 1 }] as const), ...glows]);
}

/** Appearance of moving objects, by the enabled layers. */
export function movingLayerProps({
  layers,
  floor,
  selection,
  isFollowing,
}: Pick<LiveLayersProps, 'layers' | 'floor' | 'selection' | 'isFollowing'>) {
  return {
    colorBy: colorByFromUrl(),
    scale: scaleOfMap(),
    followedId: isFollowing ? selection?.id : undefined,
    tails: layers.has('tails'),
    accuracy: layers.has('accuracy'),
    clusters: layers.has('clusters'),
    floor,
  };
}

async function showRejection(error: SocketError): Promise<void> {
  await loadMessages();
  toast(sentenceOf(error), 'danger');
}

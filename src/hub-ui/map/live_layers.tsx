import type { Signal } from '@preact/signals';
import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import { toast } from '../controls/toasts.tsx';
import { AnchorLayer } from './anchor_layer.tsx';
import { BaseLayer } from './ground/base_layer.tsx';
import { useColliding, useGlows } from './happenings.ts';
import type { LayerName, Selection } from './map_url.ts';
import { type Moving, MovingLayer, type Seen } from './moving_layer.tsx';
import { PlanLayer } from './plan_layer.tsx';
import { type FenceGlow, FenceLayer, ZoneLayer } from './site_layers.tsx';

/** What moves, of one kind: its layer once there is one, and how many are seen. */
export interface Movables {
  readonly layer: { current: Moving | undefined };
  readonly seen: Signal<Seen>;
}

export interface LiveLayersProps {
  readonly layers: ReadonlySet<LayerName>;
  readonly floor: number | undefined;
  readonly selection: Selection | undefined;
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
  readonly anchors: readonly Anchor[];
  readonly zoneOf: (anchor: Anchor) => Zone | undefined;
  readonly trackables: Movables;
  readonly providers: Movables;
  /** What moved at a time in the past is drawn by others. */
  readonly isPast: boolean;
  /** Told after every batch. */
  readonly onMoved: (kind: 'trackables' | 'providers', moving: Moving) => void;
}

const NONE: ReadonlySet<string> = new Set();
const NO_GLOWS: ReadonlyMap<string, FenceGlow> = new Map();

/** The layers of the live map that are switched on, from below. */
export function LiveLayers(props: LiveLayersProps) {
  const { layers, floor, selection, zones, fences, anchors, zoneOf, trackables, providers, isPast, onMoved } = props;
  const colliding = useColliding();
  const glows = useGlows();
  const selectedId = (kind: Selection['kind']): string | undefined =>
    selection?.kind === kind ? selection.id : undefined;
  const look = lookOf(layers, floor);
  return (
    <>
      <BaseLayer />
      {layers.has('plans') && <PlanLayer zones={zones} />}
      {layers.has('zones') && <ZoneLayer zones={zones} selectedId={selectedId('zones')} labels={look.labels} />}
      {layers.has('fences') && (
        <FenceLayer
          fences={fences}
          selectedId={selectedId('fences')}
          glows={isPast ? NO_GLOWS : glows}
          labels={look.labels}
        />
      )}
      {layers.has('anchors') && (
        <AnchorLayer anchors={anchors} zoneOf={zoneOf} selectedId={selectedId('anchors')} labels={look.labels} />
      )}
      {layers.has('providers') && !isPast && (
        <MovingLayer
          {...look}
          symbol="provider"
          selectedId={selectedId('providers')}
          colliding={NONE}
          holder={providers.layer}
          seen={providers.seen}
          onMoved={(moving) => onMoved('providers', moving)}
          onRefused={refused}
        />
      )}
      {layers.has('trackables') && !isPast && (
        <MovingLayer
          {...look}
          symbol="trackable"
          selectedId={selectedId('trackables')}
          colliding={colliding}
          holder={trackables.layer}
          seen={trackables.seen}
          onMoved={(moving) => onMoved('trackables', moving)}
          onRefused={refused}
        />
      )}
    </>
  );
}

/** How moving objects are shown by the layers that are switched on. */
export function lookOf(layers: ReadonlySet<LayerName>, floor: number | undefined) {
  return {
    labels: layers.has('labels'),
    tails: layers.has('tails'),
    accuracy: layers.has('accuracy'),
    clusters: layers.has('clusters'),
    floor,
  };
}

function refused(description: string): void {
  toast(description, 'danger');
}

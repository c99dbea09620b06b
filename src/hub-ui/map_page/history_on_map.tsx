import type { Alarms } from '../alerts/alert_store.ts';
import { lazyPart } from '../controls/lazy.tsx';
import { PastLayer } from '../history/past_layer.tsx';
import { TimeBar } from '../history/time_bar.tsx';
import { loadPageTexts } from '../languages/language.ts';
import { type LiveLayersProps, movingLayerProps } from './layers/live_layers.tsx';

const HeatLayer = lazyPart(async () => {
  await loadPageTexts();
  return (await import('../history/heat_layer.tsx')).HeatLayer;
});

const NONE: ReadonlySet<string> = new Set();
const NO_ALARMS: Alarms = new Map();
/** What moves, from below. */
const MOVING = [
  { kind: 'providers', symbol: 'provider' },
  { kind: 'trackables', symbol: 'trackable' },
] as const;

/** History on the map: time bar, playback and heat map. */
export function HistoryOnMap(
  props: Pick<
    LiveLayersProps,
    'layers' | 'floor' | 'selection' | 'isFollowing' | 'trackables' | 'providers' | 'isPast' | 'onMoved'
  >,
) {
  const { layers, floor, selection, isPast, onMoved } = props;
  const look = { ...movingLayerProps(props), colliding: NONE, alarms: NO_ALARMS };
  const areProviders = layers.has('providers') && !layers.has('trackables');
  return (
    <>
      {MOVING.filter(({ kind }) => isPast && layers.has(kind)).map(({ kind, symbol }) => (
        <PastLayer
          key={kind}
          {...look}
          symbol={symbol}
          selectedId={selection?.kind === kind ? selection.id : undefined}
          holder={props[kind].layer}
          seen={props[kind].seen}
          onMoved={(moving) => onMoved(kind, moving)}
        />
      ))}
      {layers.has('heat') && <HeatLayer floor={floor} kind={areProviders ? 'provider' : 'trackable'} />}
      <TimeBar />
    </>
  );
}

import { HeatLayer } from '../history/heat_layer.tsx';
import { PastLayer } from '../history/past_layer.tsx';
import { TimeBar } from '../history/time_bar.tsx';
import { type LiveLayersProps, movingLayerProps } from './layers/live_layers.tsx';

const NONE: ReadonlySet<string> = new Set();

/** History on the map: time bar, playback and heat map. */
export function HistoryOnMap(
  props: Pick<
    LiveLayersProps,
    'layers' | 'floor' | 'selection' | 'isFollowing' | 'trackables' | 'providers' | 'isPast' | 'onMoved'
  >,
) {
  const { layers, floor, selection, trackables, providers, isPast, onMoved } = props;
  const look = { ...movingLayerProps(props), colliding: NONE };
  const selectedId = (kind: 'trackables' | 'providers') => (selection?.kind === kind ? selection.id : undefined);
  const areProviders = layers.has('providers') && !layers.has('trackables');
  return (
    <>
      {isPast && layers.has('providers') && (
        <PastLayer
          {...look}
          symbol="provider"
          selectedId={selectedId('providers')}
          holder={providers.layer}
          seen={providers.seen}
          onMoved={(moving) => onMoved('providers', moving)}
        />
      )}
      {isPast && layers.has('trackables') && (
        <PastLayer
          {...look}
          symbol="trackable"
          selectedId={selectedId('trackables')}
          holder={trackables.layer}
          seen={trackables.seen}
          onMoved={(moving) => onMoved('trackables', moving)}
        />
      )}
      {layers.has('heat') && <HeatLayer floor={floor} kind={areProviders ? 'provider' : 'trackable'} />}
      <TimeBar />
    </>
  );
}

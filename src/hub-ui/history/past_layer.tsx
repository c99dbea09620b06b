import { useEffect, useMemo, useRef } from 'preact/hooks';
import { labelOf } from '../hub/entity_kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { type LayerOptions, useMovingCanvas } from '../map/objects/moving_layer.tsx';
import { useMap } from '../map/view/map_view.tsx';
import { fetchSnapshot, fetchTracks, NO_BODIES } from './history_api.ts';
import { playback } from './playback.ts';
import { readTracks } from './read_tracks.ts';
import { type Loaded, TrackStore, type ChunkRequest } from './track_store.ts';

/** Layer that plays back trackables or providers and looks like the live layer. */
export function PastLayer({ onMoved, ...options }: LayerOptions) {
  const { plane } = useMap();
  const { symbol } = options;
  const { moving, layer } = useMovingCanvas(options, () => playback.atMs.peek() ?? Date.now());
  const onMovedRef = useRef(onMoved);
  onMovedRef.current = onMoved;
  const store = useMemo(() => {
    const load = async ({ needsBefore, ...wanted }: ChunkRequest, signal: AbortSignal): Promise<Loaded> => {
      const [tracks, before] = await Promise.all([
        fetchTracks({ ...wanted, kind: symbol }, signal),
        needsBefore ? fetchSnapshot({ kind: symbol, atMs: wanted.fromMs }, signal) : NO_BODIES,
      ]);
      const read = await readTracks({ plane, tracks: tracks.pages, snapshot: before.pages });
      const [isCut, isIncomplete] = [tracks.isCut || before.isCut, tracks.isIncomplete || before.isIncomplete];
      return { ...read, isCut, isIncomplete };
    };
    const nameOf = (id: string): string | undefined => {
      const trackable = symbol === 'trackable' ? storeOf('trackables').items.peek().get(id) : undefined;
      return trackable && labelOf(trackable);
    };
    return new TrackStore({ objects: moving.objects, load, nameOf, now: Date.now, onChange: () => playback.refresh() });
  }, [moving, plane, symbol]);
  useEffect(() => {
    const draw = (): void => {
      layer.redraw();
      onMovedRef.current?.(moving);
    };
    const remove = playback.add({ kind: symbol, tracks: store, draw });
    return () => {
      remove();
      store.close();
    };
  }, [store, layer, moving, symbol]);
  return null;
}

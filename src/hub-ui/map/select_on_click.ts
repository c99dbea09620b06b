import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useLayoutEffect } from 'preact/hooks';
import { clusterAt } from './clusters.ts';
import type { Movers } from './go_to.ts';
import type { Selection } from './map_url.ts';
import { useMap } from './map_view.tsx';
import { objectAt } from './moving_layer.tsx';
import { drawnBy } from './shapes.ts';

/** A click opens a cluster, or selects what is nearest: what moves goes before fences, these before zones. */
export function useSelectOnClick(
  isOn: boolean,
  { trackables, providers, onSelect }: Movers & { readonly onSelect: (selection: Selection | undefined) => void },
): void {
  const { map } = useMap();
  // Before the map is seen: whoever sees it may click at once.
  useLayoutEffect(() => {
    if (!isOn) return;
    const click = ({ pixel, coordinate }: MapBrowserEvent): void => {
      const clusters = [trackables, providers].flatMap(({ current }) => current?.screen.clusters ?? []);
      if (clusterAt(clusters, pixel) !== undefined) {
        const view = map.getView();
        view.animate({ center: coordinate, zoom: (view.getZoom() ?? 0) + 2, duration: 250 });
        return;
      }
      for (const [kind, { current }] of [['trackables', trackables] as const, ['providers', providers] as const]) {
        const id = current && objectAt(current, pixel);
        if (id === undefined) continue;
        onSelect({ kind, id });
        return;
      }
      onSelect(map.forEachFeatureAtPixel(pixel, drawnBy, { hitTolerance: 4 }));
    };
    map.on('singleclick', click);
    return () => {
      map.un('singleclick', click);
    };
  }, [map, isOn, trackables, providers, onSelect]);
}

import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useMap } from '../map/map_view.tsx';
import { type Drawn, drawnBy } from '../map/shapes.ts';
import { editorPath } from './use_editor.ts';

/** A click on an entity of the kind opens its editor. */
export function OpenOnClick({ kind }: Pick<Drawn, 'kind'>) {
  const { map } = useMap();
  const [, go] = useLocation();
  // Before the map is seen: whoever sees it may click at once.
  useLayoutEffect(() => {
    const click = ({ pixel }: MapBrowserEvent): void => {
      const hit = map.forEachFeatureAtPixel(
        pixel,
        (feature) => {
          const drawn = drawnBy(feature);
          return drawn?.kind === kind ? drawn : undefined;
        },
        { hitTolerance: 4 },
      );
      if (hit !== undefined) go(editorPath(kind, hit.id));
    };
    map.on('singleclick', click);
    return () => map.un('singleclick', click);
  }, [map, kind, go]);
  return null;
}

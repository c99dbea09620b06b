import type Feature from 'ol/Feature.js';
import type BaseLayer from 'ol/layer/Base.js';
import VectorLayer from 'ol/layer/Vector.js';
import VectorSource from 'ol/source/Vector.js';
import type { StyleFunction } from 'ol/style/Style.js';
import { useEffect, useMemo } from 'preact/hooks';
import { useMap } from './map_view.tsx';

/** Z-index of the layers, bottom to top. */
export const Z = {
  world: -2,
  tiles: -1,
  base: 0,
  building: 0.5,
  plans: 1,
  heat: 1.5,
  zones: 2,
  fences: 3,
  areaNames: 3.5,
  tails: 4,
  objects: 5,
  labels: 7,
  edit: 8,
} as const;

/** Shows a layer as long as its component. */
export function useLayer(layer: BaseLayer | undefined): void {
  const { map } = useMap();
  useEffect(() => {
    if (layer === undefined) return;
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
    };
  }, [map, layer]);
}

/** Adds a layer of features to the map while its component is mounted. Features and style may change at any time. */
export function useVectorLayer(features: readonly Feature[], style: StyleFunction, zIndex: number): VectorSource {
  const source = useMemo(() => new VectorSource({ wrapX: false }), []);
  const layer = useMemo(() => new VectorLayer({ source, zIndex, updateWhileInteracting: true }), [source, zIndex]);
  useLayer(layer);
  useEffect(() => layer.setStyle(style), [layer, style]);
  useEffect(() => {
    source.clear(true);
    source.addFeatures([...features]);
  }, [source, features]);
  return source;
}

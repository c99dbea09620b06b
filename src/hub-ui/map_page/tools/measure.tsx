import type LineString from 'ol/geom/LineString.js';
import Draw from 'ol/interaction/Draw.js';
import VectorLayer from 'ol/layer/Vector.js';
import VectorSource from 'ol/source/Vector.js';
import { getLength } from 'ol/sphere.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useLayoutEffect, useState } from 'preact/hooks';
import { IconButton } from '../../controls/button.tsx';
import { t } from '../../languages/language.ts';
import type { Plane } from '../../map/plane/plane.ts';
import { lengthText } from '../../map/view/map_tools.tsx';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { Z } from '../../map/view/vector_layer.ts';
import styles from './measure.module.css';

/**
 * Tool that measures the distance along clicked points, geodesic on the earth. A double click ends the line, Escape ends the
 * tool.
 */
export function Measure({ onClose }: { readonly onClose: () => void }) {
  const { map, plane } = useMap();
  const [meters, setMeters] = useState<number>();
  const { selected, halo } = palette();
  // Runs before the hint is painted, because the user may click at once.
  useLayoutEffect(() => {
    const source = new VectorSource();
    const style = [
      new Style({ stroke: new Stroke({ color: halo, width: 6 }) }),
      new Style({
        stroke: new Stroke({ color: selected, width: 2.5 }),
        image: new CircleStyle({ radius: 5, fill: new Fill({ color: selected }) }),
      }),
    ];
    const layer = new VectorLayer({ source, style, zIndex: Z.edit });
    const draw = new Draw({ source, type: 'LineString', style });
    draw.on('drawstart', ({ feature }) => {
      source.clear();
      const line = feature.getGeometry() as LineString;
      line.on('change', () => setMeters(lengthOf(line, plane)));
    });
    const keys = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') onClose();
    };
    map.addLayer(layer);
    map.addInteraction(draw);
    addEventListener('keydown', keys);
    return () => {
      removeEventListener('keydown', keys);
      map.removeInteraction(draw);
      map.removeLayer(layer);
    };
  }, [map, plane, selected, halo, onClose]);
  return (
    <div class={styles.measure} role="status">
      <span>
        {meters === undefined ? t('Click points to measure between them') : <strong>{lengthText(meters)}</strong>}
      </span>
      <IconButton icon="close" label={t('Stop measuring')} onClick={onClose} />
    </div>
  );
}

function lengthOf(line: LineString, plane: Plane): number {
  return plane.kind === 'zone' ? line.getLength() : getLength(line);
}

import Feature from 'ol/Feature.js';
import LineString from 'ol/geom/LineString.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import { NumberField } from '../../controls/field.tsx';
import { t } from '../../languages/language.ts';
import { metersText } from '../../languages/numbers.ts';
import type { Matrix } from '../../map/plane/georeference.ts';
import type { MapPoint } from '../../map/plane/plane.ts';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';
import { MapHint } from '../map/map_hint.tsx';
import { PointsLayer } from '../map/points_layer.tsx';
import styles from './known_length.module.css';
import { metersBetween, turnAround } from './plan_move.ts';

/** Ruler on a floor plan: two clicks mark a length that the user knows and enters; the plan is scaled to it. */
export function KnownLength({ onScale }: { readonly onScale: (movement: Matrix) => void }) {
  const [ends, setEnds] = useState<readonly MapPoint[]>([]);
  const [meters, setMeters] = useState<number>();
  const [isSubmitted, setSubmitted] = useState(false);
  const { selected } = palette();
  const style = useMemo(() => {
    const line = new Style({ stroke: new Stroke({ color: selected, width: 3 }) });
    return () => line;
  }, [selected]);
  useVectorLayer(
    useMemo(() => (ends.length < 2 ? [] : [new Feature(new LineString([...ends]))]), [ends]),
    style,
    Z.edit,
  );
  const points = useMemo(() => ends.map((at, i) => ({ at, label: 'AB'[i] ?? '' })), [ends]);
  const [one, other] = ends;
  const measured = one && other ? metersBetween(one, other) : 0;
  const submit = (event: Event): void => {
    event.preventDefault();
    setSubmitted(true);
    if (one === undefined || !(measured > 0) || !(meters !== undefined && meters > 0)) return;
    onScale(turnAround(one, { factor: meters / measured }));
  };
  return (
    <>
      <PointsLayer
        points={points}
        onMove={(index, to) => setEnds((before) => before.with(index, to))}
        onPlace={(at) => setEnds((before) => (before.length < 2 ? [...before, at] : before))}
      />
      {ends.length < 2 ? (
        <MapHint>
          {ends.length === 0
            ? t('Click one end of a length that you know, such as of a wall')
            : t('Now click its other end')}
        </MapHint>
      ) : (
        <form class={styles.form} onSubmit={submit} noValidate>
          <LengthField
            value={meters}
            measured={measured}
            error={isSubmitted && !(meters !== undefined && meters > 0) ? t('Enter a length above 0 m.') : undefined}
            onInput={setMeters}
          />
          <Button kind="main" type="submit">
            {t('Scale the plan')}
          </Button>
        </form>
      )}
    </>
  );
}

/** Input for the length, focused as soon as it appears. */
function LengthField({
  measured,
  ...props
}: {
  readonly value: number | undefined;
  /** Length at the current size of the plan, in meters. */
  readonly measured: number;
  readonly error: string | undefined;
  readonly onInput: (value: number | undefined) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector('input')?.focus(), []);
  return (
    <div ref={box}>
      <NumberField label={t('Length from A to B')} unit="m" min={0} placeholder={metersText(measured)} {...props} />
    </div>
  );
}

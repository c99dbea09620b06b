import { useState } from 'preact/hooks';
import { Button, Choice } from '../../controls/button.tsx';
import { Disclosure } from '../../controls/disclosure.tsx';
import fieldStyles from '../../controls/field.module.css';
import { AreaField, NumberField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { Notice } from '../../controls/notice.tsx';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { errorAt } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { errorText } from '../../problems/sentences.ts';
import positionStyles from '../fields/position_fields.module.css';
import { type Pair, placedByHub, rectangleCorners } from './pairs.ts';
import { readRows } from '../fields/position_fields.tsx';

interface Reference {
  readonly longitude: number | undefined;
  readonly latitude: number | undefined;
  readonly rotation: number | undefined;
}

/**
 * Form that georeferences a zone by its extent or corners in meters, relative to a point with known longitude and latitude.
 * The hub computes the control points.
 */
export function FromLocal({
  draft,
  onPlaced,
}: {
  readonly draft: AnyDraft;
  readonly onPlaced: (pairs: readonly Pair[]) => void;
}) {
  const [way, setWay] = useState<'extent' | 'corners'>('extent');
  const [reference, setReference] = useState<Reference>({ longitude: undefined, latitude: undefined, rotation: 0 });
  const [size, setSize] = useState<{ width?: number | undefined; depth?: number | undefined }>({});
  const [text, setText] = useState('0, 0\n50, 0\n50, 30\n0, 30');
  const [error, setError] = useState<unknown>();
  const [isSubmitted, setSubmitted] = useState(false);
  const problems = isSubmitted ? problemsOf({ way, size, text, reference }) : {};
  const place = async (): Promise<void> => {
    const { width = 0, depth = 0 } = size;
    const corners = way === 'extent' ? rectangleCorners(width, depth) : readRows(text);
    const { longitude = 0, latitude = 0, rotation = 0 } = reference;
    setSubmitted(true);
    setError(undefined);
    if (Object.keys(problemsOf({ way, size, text, reference })).length > 0) return;
    try {
      const position = [longitude, latitude];
      onPlaced(await draft.await(placedByHub({ points: corners, position, origin: corners[0] ?? [], rotation })));
    } catch (problem) {
      setError(problem);
    }
  };
  const set = (change: Partial<Reference>): void => setReference({ ...reference, ...change });
  const fields = ['local_coordinates', 'global_reference', 'rotation'];
  const problemHere = errorAt(error, 'local_coordinates');
  return (
    <Disclosure title={t('By extent or corners in meters')}>
      <div class={flow.stack}>
        <Choice
          label={t('Measured')}
          value={way}
          options={[
            { value: 'extent', label: t('Extent') },
            { value: 'corners', label: t('Corners') },
          ]}
          onChange={setWay}
        />
        {way === 'extent' ? (
          <div class={fieldStyles.fields}>
            <NumberField
              label={t('Width, along x')}
              unit="m"
              min={0}
              value={size.width}
              error={problems.width ?? problemHere}
              onInput={(width) => setSize({ ...size, width })}
            />
            <NumberField
              label={t('Depth, along y')}
              unit="m"
              min={0}
              value={size.depth}
              error={problems.depth}
              onInput={(depth) => setSize({ ...size, depth })}
            />
          </div>
        ) : (
          <AreaField
            label={t('Corners')}
            help={t('One x, y in meters per line; a third number is a height.')}
            mono
            value={text}
            error={problems.corners ?? problemHere}
            onInput={setText}
          />
        )}
        <div class={`${fieldStyles.fields} ${positionStyles.three}`} data-plane="earth">
          <NumberField
            label={t('Longitude')}
            value={reference.longitude}
            error={problems.longitude ?? errorAt(error, 'global_reference')}
            onInput={(longitude) => set({ longitude })}
          />
          <NumberField
            label={t('Latitude')}
            value={reference.latitude}
            error={problems.latitude}
            onInput={(latitude) => set({ latitude })}
          />
          <NumberField
            label={t('Rotation')}
            unit="°"
            value={reference.rotation}
            error={errorAt(error, 'rotation')}
            onInput={(rotation) => set({ rotation })}
          />
        </div>
        <p class={fieldStyles.help}>
          {t('Position of the first corner, and the clockwise angle of the y axis from north.')}
        </p>
        {error !== undefined && fields.every((field) => errorAt(error, field) === undefined) && (
          <Notice tone="danger">{errorText(error)}</Notice>
        )}
        <Button onClick={() => void place()}>{t('Place the corners')}</Button>
      </div>
    </Disclosure>
  );
}

interface Measured {
  readonly way: 'extent' | 'corners';
  readonly size: { readonly width?: number | undefined; readonly depth?: number | undefined };
  readonly text: string;
  readonly reference: Reference;
}

/** All problems of the form. */
function problemsOf({
  way,
  size,
  text,
  reference: { longitude, latitude },
}: Measured): Partial<Record<'width' | 'depth' | 'corners' | 'longitude' | 'latitude', string>> {
  const corners = readRows(text);
  const areCorners = corners.length >= 3 && corners.every((each) => each.length >= 2 && each.every(Number.isFinite));
  const isWithin = (value: number | undefined, most: number): boolean => value !== undefined && Math.abs(value) <= most;
  return {
    ...(way === 'extent' && !((size.width ?? 0) > 0) && { width: t('Enter a width above 0 m.') }),
    ...(way === 'extent' && !((size.depth ?? 0) > 0) && { depth: t('Enter a depth above 0 m.') }),
    ...(way === 'corners' && !areCorners && { corners: t('Enter at least three lines of two or three numbers.') }),
    ...(!isWithin(longitude, 180) && { longitude: t('Enter a longitude from −180 to 180.') }),
    ...(!isWithin(latitude, 90) && { latitude: t('Enter a latitude from −90 to 90.') }),
  };
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { NumberField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { Notice } from '../../controls/notice.tsx';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { errorAt } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { errorText } from '../../problems/sentences.ts';
import { lastView } from '../map/context_map.tsx';
import type { PlanImage } from './image_layer.tsx';
import { type Pair, placedByHub, rectangleCorners } from './pairs.ts';

/** Control points at the corners of a plan: in pixels, and in meters from the lower left. */
export interface PlanCorners {
  readonly ofPlan: readonly Pair[];
  readonly ofZone: readonly Pair[];
}

interface PlanPlacement {
  readonly longitude?: number | undefined;
  readonly latitude?: number | undefined;
  readonly width?: number | undefined;
  readonly rotation?: number | undefined;
}

/**
 * Form that georeferences a plan by its center, width and rotation, without control points. The hub computes the corners.
 */
export function PlanStart({
  draft,
  image: { width: columns, height: rows },
  onPlaced,
}: {
  readonly draft: AnyDraft;
  readonly image: PlanImage;
  readonly onPlaced: (corners: PlanCorners) => void;
}) {
  const [placement, setPlacement] = useState<PlanPlacement>({ rotation: 0 });
  const [isSubmitted, setSubmitted] = useState(false);
  const [error, setError] = useState<unknown>();
  const [middleX, middleY] = lastView.value?.center ?? [];
  const { longitude = middleX, latitude = middleY, width = 0, rotation = 0 } = placement;
  const set = (change: PlanPlacement): void => setPlacement({ ...placement, ...change });
  const form = useRef<HTMLDivElement>(null);
  // The form appears below the button for the image, which may be at the end of the visible part.
  useEffect(() => {
    form.current?.scrollIntoView({ block: 'start' });
    form.current?.querySelector('input')?.focus({ preventScroll: true });
  }, []);
  const place = async (): Promise<void> => {
    setSubmitted(true);
    if (!(width > 0) || longitude === undefined || latitude === undefined) return;
    const depth = (width * rows) / columns;
    const pixels = [
      [0, rows],
      [columns, rows],
      [columns, 0],
      [0, 0],
    ];
    try {
      const points = rectangleCorners(width, depth);
      const center = { position: [longitude, latitude], origin: [width / 2, depth / 2] };
      const ofZone = await draft.await(placedByHub({ points, ...center, rotation }));
      onPlaced({ ofZone, ofPlan: ofZone.map(({ earth }, i) => ({ earth, own: pixels[i] ?? [] })) });
    } catch (problem) {
      setError(problem);
    }
  };
  const needsPlace = isSubmitted && (longitude === undefined || latitude === undefined);
  const placeProblem = needsPlace
    ? t('Enter its longitude and latitude, or move the map to the place.')
    : errorAt(error, 'global_reference');
  return (
    <div class={flow.stack} ref={form}>
      <p class={fieldStyles.help}>
        {t(
          'Enter the center, the width, and the clockwise rotation of the top from north. Or click pairs of points on the map and on the plan.',
        )}
      </p>
      <div class={fieldStyles.fields}>
        <NumberField
          label={t('Longitude of the center')}
          placeholder={degrees(middleX)}
          value={placement.longitude}
          error={placeProblem}
          onInput={(value) => set({ longitude: value })}
        />
        <NumberField
          label={t('Latitude of the center')}
          placeholder={degrees(middleY)}
          value={placement.latitude}
          onInput={(value) => set({ latitude: value })}
        />
        <NumberField
          label={t('Width of the image')}
          unit="m"
          min={0}
          value={placement.width}
          error={isSubmitted && !(width > 0) ? t('Enter a width above 0 m.') : undefined}
          onInput={(value) => set({ width: value })}
        />
        <NumberField
          label={t('Rotation')}
          unit="°"
          value={placement.rotation}
          error={errorAt(error, 'rotation')}
          onInput={(value) => set({ rotation: value })}
        />
      </div>
      {error !== undefined && placeProblem === undefined && errorAt(error, 'rotation') === undefined && (
        <Notice tone="danger">{errorText(error)}</Notice>
      )}
      <div class={flow.row}>
        <Button kind="main" onClick={() => void place()}>
          {t('Place image')}
        </Button>
      </div>
    </div>
  );
}

/** Formats the default of an empty input: the center of the map. */
function degrees(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(6);
}

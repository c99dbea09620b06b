import { useRef } from 'preact/hooks';
import fieldStyles from '../../controls/field.module.css';
import { NumberField } from '../../controls/field.tsx';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import type { Draft } from '../../hub/rest.ts';
import { equal } from '../../json/equal.ts';
import { t } from '../../languages/language.ts';
import type { Matrix } from '../../map/plane/georeference.ts';
import type { PlanImage } from './image_layer.tsx';
import { placementOfPlan, planPairsOf, withMovedPlan } from './plan_area.ts';
import { type PlanSize, sizeOf, turnAround } from './plan_move.ts';
import { drawable } from './zone_georeference.ts';

/** Width and rotation of a placed plan, for exact values and for use without a pointer. */
export function PlanSizeFields({ draft, image }: { readonly draft: EntityDraft<'zones'>; readonly image: PlanImage }) {
  const typing = useRef<{ readonly from: Draft<'zones'>; readonly to: Draft<'zones'> }>();
  const size = sizeIn(draft.value.value, image);
  if (size === undefined) return null;
  // While the user types a number, each digit starts from the same plan, so that rounding does not add up.
  const change = (movement: (from: PlanSize) => Matrix, step: string): void => {
    const now = draft.value.peek();
    const isTyping = typing.current !== undefined && equal(planPairsOf(now), planPairsOf(typing.current.to));
    const from = isTyping ? (typing.current?.from ?? now) : now;
    const before = sizeIn(from, image);
    if (before === undefined) return;
    const patch = withMovedPlan(from, image, movement(before));
    draft.change(patch, step);
    typing.current = { from, to: { ...now, ...patch } };
  };
  return (
    <div class={fieldStyles.fields}>
      <NumberField
        label={t('Width of the image')}
        unit="m"
        min={0}
        step="any"
        value={Math.round(size.widthMeters * 100) / 100}
        onInput={(meters) => {
          if (meters === undefined || !(meters > 0)) return;
          change(({ center, widthMeters }) => turnAround(center, { factor: meters / widthMeters }), 'plan width');
        }}
      />
      <NumberField
        label={t('Rotation')}
        unit="°"
        step="any"
        value={Math.round(size.rotation * 10) / 10}
        onInput={(degrees) => {
          if (degrees === undefined) return;
          const angle = (rotation: number): number => ((rotation - degrees) * Math.PI) / 180;
          change(({ center, rotation }) => turnAround(center, { angle: angle(rotation) }), 'plan rotation');
        }}
      />
    </div>
  );
}

function sizeIn(zone: Draft<'zones'>, image: PlanImage): PlanSize | undefined {
  const placement = placementOfPlan(drawable(zone));
  return placement && sizeOf(placement.matrix, image);
}

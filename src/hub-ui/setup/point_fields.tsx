import type { Point } from '../../model/geojson.ts';
import { IconButton } from '../parts/button.tsx';
import { NumberField } from '../parts/field.tsx';
import type { AnyDraft } from './draft.ts';
import { memberOf, problemOf } from './draft_fields.tsx';

/** What the numbers of a position are called. */
const NAMES = {
  earth: { x: 'Longitude', y: 'Latitude', z: 'Height', unit: undefined },
  zone: { x: 'x', y: 'y', z: 'z', unit: 'm' },
} as const;

/** A member that is a position, as its two or three numbers. */
export function PointFields({
  draft,
  field,
  plane,
  isRemovable = false,
}: {
  readonly draft: AnyDraft;
  readonly field: string;
  readonly plane: keyof typeof NAMES;
  readonly isRemovable?: boolean;
}) {
  const { x: xName, y: yName, z: zName, unit } = NAMES[plane];
  const units = unit === undefined ? {} : { unit };
  const position = memberOf<Point>(draft, field);
  const [x, y, z] = position?.coordinates ?? [];
  const set = (index: number, value: number | undefined): void => {
    const coordinates = [x ?? 0, y ?? 0, ...(z === undefined ? [] : [z])];
    if (value !== undefined) coordinates[index] = value;
    else if (index === 2) coordinates.pop();
    draft.change({ [field]: { type: 'Point', coordinates } }, `${field} ${index}`);
  };
  return (
    <div class="row setup-position">
      <div class="fields setup-three" data-plane={plane}>
        <NumberField
          label={xName}
          {...units}
          value={x}
          error={problemOf(draft, field)}
          onInput={(value) => set(0, value)}
        />
        <NumberField label={yName} {...units} value={y} onInput={(value) => set(1, value)} />
        <NumberField label={zName} unit="m" value={z} onInput={(value) => set(2, value)} />
      </div>
      {isRemovable && position !== undefined && (
        <IconButton
          icon="trash"
          label={`Remove ${xName} and ${yName}`}
          onClick={() => draft.change({ [field]: undefined })}
        />
      )}
    </div>
  );
}

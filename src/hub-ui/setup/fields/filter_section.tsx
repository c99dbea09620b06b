import type { Filter } from '../../../model/filter.ts';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { NumberField, SelectField } from '../../controls/field.tsx';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { memberOf, problemOf } from './draft_fields.tsx';

interface FilterField {
  readonly name: 'default_accuracy' | 'process_noise' | 'gate' | 'reset_after' | 'max_gap' | 'max_speed' | 'floor_hold';
  readonly label: string;
  readonly unit?: string;
  readonly help: string;
  /** Number of units of the API in a unit of the form. */
  readonly scale?: number;
}

/** The numbers of a filter. */
export const FILTER_FIELDS: readonly FilterField[] = [
  {
    name: 'default_accuracy',
    label: t('Accuracy of locations without one'),
    unit: 'm',
    help: t('Standard deviation per axis. Default: 0.5 m.'),
  },
  {
    name: 'process_noise',
    label: t('Acceleration'),
    unit: 'm/s²',
    help: t('Typical changes of the velocity. Default: 1 m/s². Smaller values smooth more.'),
  },
  {
    name: 'max_speed',
    label: t('Maximum speed'),
    unit: 'm/s',
    help: t('A location that requires a higher speed is an outlier. Default: no limit.'),
  },
  {
    name: 'gate',
    label: t('Gate'),
    help: t('Deviation above which a location is an outlier. Default: 13.8. Smaller values reject more.'),
  },
  {
    name: 'reset_after',
    label: t('Outliers until a restart'),
    help: t('Number of matching outliers that move the object there. Default: 3.'),
  },
  {
    name: 'max_gap',
    label: t('Maximum gap'),
    unit: 's',
    scale: 1000,
    help: t('The filter restarts after a longer gap. Default: 5 s.'),
  },
  {
    name: 'floor_hold',
    label: t('Time until the floor changes'),
    unit: 's',
    scale: 1000,
    help: t('How long locations must report another floor. Default: 0 s.'),
  },
];

const KINDS = [
  { value: '', label: t('As configured') },
  { value: 'none', label: t('No filter') },
  { value: 'cv', label: t('Motion at constant velocity') },
];

const FUSE = [
  { value: '', label: t('As configured') },
  { value: 'true', label: t('All providers together') },
  { value: 'false', label: t('The one that the locating rules choose') },
];

/** Form section for the filter of a provider or trackable. The other fields are shown once it has a kind. */
export function FilterSection({ draft, of }: { readonly draft: AnyDraft; readonly of: 'provider' | 'trackable' }) {
  const filter = memberOf<Filter>(draft, 'filter') ?? {};
  const set = (name: keyof Filter, value: unknown): void => {
    const members = Object.entries({ ...filter, [name]: value }).filter(([, member]) => member != null);
    const next = members.length === 0 ? undefined : (Object.fromEntries(members) as Filter);
    draft.change({ filter: next }, `filter.${name}`);
  };
  const isShown = filter.kind === 'cv' || Object.keys(filter).some((name) => name !== 'kind');
  return (
    <Card stack title={t('Filter of positions')}>
      <SelectField
        label={t('Kind')}
        help={
          of === 'provider'
            ? t(
                'A filter smooths motions and ignores wrong positions. Values set here override those of the trackable.',
              )
            : t('A filter smooths motions and ignores wrong positions. Providers can override these values.')
        }
        error={problemOf(draft, 'filter.kind')}
        value={filter.kind ?? ''}
        options={KINDS}
        onChange={(value) => set('kind', value === '' ? undefined : value)}
      />
      {isShown && (
        <div class={fieldStyles.fields}>
          {FILTER_FIELDS.map(({ name, label, unit, help, scale = 1 }) => (
            <NumberField
              key={name}
              label={label}
              help={help}
              min={0}
              {...(unit !== undefined && { unit })}
              placeholder={t('not set')}
              error={problemOf(draft, `filter.${name}`)}
              value={filter[name] == null ? undefined : (filter[name] as number) / scale}
              onInput={(value) => set(name, value === undefined ? undefined : value * scale)}
            />
          ))}
        </div>
      )}
      {isShown && of === 'trackable' && (
        <SelectField
          label={t('Locations in use')}
          error={problemOf(draft, 'filter.fuse')}
          value={filter.fuse == null ? '' : String(filter.fuse)}
          options={FUSE}
          onChange={(value) => set('fuse', value === '' ? undefined : value === 'true')}
        />
      )}
    </Card>
  );
}

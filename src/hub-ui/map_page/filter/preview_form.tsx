import type { Filter } from '../../../model/filter.ts';
import { Disclosure } from '../../controls/disclosure.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Check, NumberField } from '../../controls/field.tsx';
import typography from '../../controls/typography.module.css';
import { t } from '../../languages/language.ts';
import { countText, metersText, millisecondsText } from '../../languages/numbers.ts';
import { FILTER_FIELDS } from '../../setup/fields/filter_section.tsx';
import type { FilterPreview } from './filter_preview.ts';

interface PreviewFormProps {
  readonly filter: Filter;
  readonly preview: FilterPreview;
  readonly onChange: (filter: Filter) => void;
}

/** Settings of a filter to try, and what it makes of the last minute. Nothing is saved. */
export function PreviewForm({ filter, preview: { outliers, locations, figures }, onChange }: PreviewFormProps) {
  const { rawNoiseMeters: raw, noiseMeters: noise, lagMs: lag } = figures ?? {};
  return (
    <section aria-label={t('Preview of other settings')}>
      <p role="status">
        {t('{outliers} of {locations} locations of the last minute are outliers', {
          outliers: countText(outliers.length),
          locations: countText(locations),
        })}
      </p>
      {raw !== undefined && noise !== undefined && (
        <p class={typography.soft}>
          {t('Noise: {raw} raw, {filtered} filtered', { raw: metersText(raw), filtered: metersText(noise) })}
        </p>
      )}
      {lag !== undefined && (
        <p class={typography.soft}>{t('Lag: {time}', { time: millisecondsText(Math.round(lag)) })}</p>
      )}
      <Disclosure title={t('Settings to try')} isOpen>
        <div class={fieldStyles.fields}>
          {FILTER_FIELDS.map(({ name, label, unit, scale = 1 }) => (
            <NumberField
              key={name}
              label={label}
              min={0}
              {...(unit !== undefined && { unit })}
              placeholder={t('not set')}
              value={filter[name] == null ? undefined : (filter[name] as number) / scale}
              onInput={(value) => onChange({ ...filter, [name]: value === undefined ? null : value * scale })}
            />
          ))}
        </div>
        <Check
          label={t('All providers together')}
          checked={filter.fuse === true}
          onChange={(fuse) => onChange({ ...filter, fuse })}
        />
      </Disclosure>
    </section>
  );
}

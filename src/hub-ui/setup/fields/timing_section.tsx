import { useState } from 'preact/hooks';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { DraftDuration, DraftNumber, memberOf } from './draft_fields.tsx';
import { type TimingPart, TimingPicture } from './timing_picture.tsx';
import styles from './timing_section.module.css';

interface TimingField {
  readonly name: string;
  readonly part: TimingPart;
  readonly label: string;
  readonly unit: 'm' | 's';
  /** Explanation, as the caption of the picture. */
  readonly text: string;
}

const ENTRY: readonly TimingField[] = [
  {
    name: 'entry_tolerance',
    part: 'entryTolerance',
    label: t('Entry tolerance'),
    unit: 'm',
    text: t(
      'A band inside the edge. Objects in it have not entered yet, so that noisy positions cause no repeated entries and exits.',
    ),
  },
  {
    name: 'entry_tolerance_timeout',
    part: 'entryToleranceTimeout',
    label: t('Entry tolerance timeout'),
    unit: 's',
    text: t('How long an object may stay in the band of the entry tolerance before this counts as an entry.'),
  },
  {
    name: 'entry_delay',
    part: 'entryDelay',
    label: t('Entry delay'),
    unit: 's',
    text: t(
      'How long an object must stay inside before the entry is reported. If it leaves earlier, there is no entry.',
    ),
  },
];

const EXIT: readonly TimingField[] = [
  {
    name: 'exit_tolerance',
    part: 'exitTolerance',
    label: t('Exit tolerance'),
    unit: 'm',
    text: t('A band outside the edge. Objects that were inside and are now in it have not left yet.'),
  },
  {
    name: 'tolerance_timeout',
    part: 'toleranceTimeout',
    label: t('Exit tolerance timeout'),
    unit: 's',
    text: t('How long an object may stay in the band of the exit tolerance before this counts as an exit.'),
  },
  {
    name: 'exit_delay',
    part: 'exitDelay',
    label: t('Exit delay'),
    unit: 's',
    text: t(
      'How long an object must stay outside before the exit is reported. If it returns earlier, there is no exit.',
    ),
  },
];

const SILENCE: TimingField = {
  name: 'timeout',
  part: 'silence',
  label: t('Timeout without positions'),
  unit: 's',
  text: t('How long an object inside may be silent before this counts as an exit. Empty or 0: forever.'),
};

/** Members of a fence in this section. */
export const FENCE_TIMING: readonly string[] = [...ENTRY, ...EXIT, SILENCE].map(({ name }) => name);

/** Members of trackables and providers, which have no entry tolerance. */
export const OBJECT_TIMING: readonly string[] = [
  'fence_timeout',
  ...FENCE_TIMING.filter((name) => name !== 'entry_tolerance'),
];

const OVERRIDES = {
  fence: t('Trackables and providers can override these values.'),
  trackable: t('Values set here override those of the fences.'),
  provider: t('Values set here override those of the trackable and the fences.'),
} as const;

/** Form section for tolerances, delays and timeouts, with a diagram. */
export function TimingSection({ draft, of }: { readonly draft: AnyDraft; readonly of: keyof typeof OVERRIDES }) {
  const [part, setPart] = useState<TimingPart>();
  // The timeout of an object has two names; the newer one takes precedence.
  const isOld =
    of === 'fence' || (memberOf(draft, 'fence_timeout') === undefined && memberOf(draft, 'timeout') !== undefined);
  const silence = isOld ? SILENCE : { ...SILENCE, name: 'fence_timeout' };
  const entry = of === 'fence' ? ENTRY : ENTRY.slice(1);
  const all = [...entry, ...EXIT, silence];
  const shown = all.find((field) => field.part === part);
  const valueAt = (wanted: TimingPart): number | undefined => {
    const field = all.find((each) => each.part === wanted);
    return field && memberOf<number>(draft, field.name);
  };
  const input = ({ name, label, unit, part: own }: TimingField) => {
    const common = { draft, field: name, label, onFocus: () => setPart(own) };
    return unit === 's' ? (
      <DraftDuration key={name} {...common} />
    ) : (
      <DraftNumber key={name} {...common} unit="m" min={0} example={t('not set')} />
    );
  };
  return (
    <Card stack title={of === 'fence' ? t('Entering and leaving') : t('Entering and leaving fences')}>
      <figure class={styles.figure}>
        <TimingPicture part={part} valueAt={valueAt} />
        <figcaption aria-live="polite">{shown?.text ?? OVERRIDES[of]}</figcaption>
      </figure>
      <div class={fieldStyles.fields}>{entry.map(input)}</div>
      <div class={fieldStyles.fields}>{EXIT.map(input)}</div>
      {input(silence)}
    </Card>
  );
}

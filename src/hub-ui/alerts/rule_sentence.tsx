import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { TextField } from '../controls/field.tsx';
import { NumberInput } from '../controls/number_input.tsx';
import { Select } from '../controls/select.tsx';
import { errorAt } from '../hub/rest.ts';
import { t, tParts } from '../languages/language.ts';
import { ALL_OBJECTS, ANY_OBJECT, COUNTING } from './alert_text.ts';
import { Picker } from './picker.tsx';
import styles from './rule_dialog.module.css';
import {
  DISTANCE,
  MAY_HOLD_AT_ONCE,
  ON_LISTED_FENCES,
  ON_LISTED_TRACKABLES,
  ON_TRACKABLES,
  type RuleDraft,
  SENTENCES,
  SPEED,
  UNIT_MS,
} from './rule_draft.ts';

const UNITS = [
  { value: '1000', label: t('seconds') },
  { value: '60000', label: t('minutes') },
  { value: '3600000', label: t('hours') },
] as const;

interface PartProps {
  readonly draft: RuleDraft;
  readonly onChange: (changed: Partial<RuleDraft>) => void;
}

/** Sentence of a rule with controls in place of its parameters. */
export function Sentence({ draft, onChange }: PartProps) {
  const places: Readonly<Record<Parameter, ComponentChildren>> = {
    who: <Who draft={draft} onChange={onChange} />,
    where: <Where draft={draft} onChange={onChange} all={t('any fence')} some={t('one of these fences')} />,
    in: <Where draft={draft} onChange={onChange} all={t('in any fence')} some={t('in one of these fences')} />,
    within: <Where draft={draft} onChange={onChange} all={t('anywhere')} some={t('in one of these fences')} />,
    long: <Long draft={draft} onChange={onChange} />,
    many: (
      <Quantity
        label={t('How many')}
        min={0}
        step="1"
        value={draft.more_than ?? 0}
        onInput={(many) => onChange({ more_than: many })}
      />
    ),
    few: (
      <Quantity
        label={t('How many')}
        min={1}
        step="1"
        value={draft.fewer_than ?? 1}
        onInput={(few) => onChange({ fewer_than: few })}
      />
    ),
    fast: (
      <Quantity
        label={t('Speed in m/s')}
        min={0}
        step="any"
        value={draft.speed_above ?? SPEED}
        onInput={(fast) => onChange({ speed_above: fast })}
      />
    ),
    apart: (
      <Quantity
        label={t('Distance in meters')}
        min={0}
        step="any"
        value={draft.distance ?? DISTANCE}
        onInput={(distance) => onChange({ distance })}
      />
    ),
    side: (
      <Select
        aria-label={t('Which side')}
        value={draft.direction ?? 'left'}
        options={[
          { value: 'left', label: t('left') },
          { value: 'right', label: t('right') },
        ]}
        onChange={(direction) => onChange({ direction })}
      />
    ),
    others: (
      <Select
        aria-label={t('Which others')}
        value={draft.other_trackable_ids == null ? 'same' : 'some'}
        options={[
          { value: 'same', label: draft.kind === 'together' ? t('another of these') : t('all others of these') },
          { value: 'some', label: draft.kind === 'together' ? t('one of those') : t('all of those') },
        ]}
        onChange={(which) => onChange({ other_trackable_ids: which === 'same' ? null : [] })}
      />
    ),
  };
  return (
    <p class={styles.sentence}>
      {tParts(SENTENCES[draft.kind], places).map((part, i) => (
        <span key={i}>{part}</span>
      ))}
    </p>
  );
}

type Parameter = 'who' | 'where' | 'in' | 'within' | 'long' | 'many' | 'few' | 'fast' | 'apart' | 'side' | 'others';

/** Input of a number in a sentence. */
function Quantity({
  label,
  min,
  step,
  value,
  onInput,
}: {
  readonly label: string;
  readonly min: number;
  readonly step: string;
  readonly value: number;
  readonly onInput: (value: number) => void;
}) {
  return (
    <NumberInput
      class={styles.number}
      aria-label={label}
      min={min}
      step={step}
      value={value}
      onInput={(next) => onInput(next ?? min)}
    />
  );
}

function Where({ draft, onChange, all, some }: PartProps & { readonly all: string; readonly some: string }) {
  const options = [
    { value: 'all', label: all },
    { value: 'some', label: some },
  ];
  return (
    <Select
      aria-label={t('Which fences')}
      value={draft.fence_ids == null ? 'all' : 'some'}
      options={ON_LISTED_FENCES.has(draft.kind) ? options.slice(1) : options}
      onChange={(which) => onChange({ fence_ids: which === 'all' ? null : [] })}
    />
  );
}

/** Options for the objects of a rule, as a subject and as what is counted. */
const WHO = [
  { type: 'trackable', which: 'all', label: ANY_OBJECT.trackable, counted: ALL_OBJECTS.trackable },
  { type: 'trackable', which: 'some', label: t('one of these trackables'), counted: t('these trackables') },
  {
    type: 'trackable',
    which: 'property',
    label: t('a trackable with a property'),
    counted: t('trackables with a property'),
  },
  {
    type: 'location_provider',
    which: 'all',
    label: ANY_OBJECT.location_provider,
    counted: ALL_OBJECTS.location_provider,
  },
  { type: 'location_provider', which: 'some', label: t('one of these providers'), counted: t('these providers') },
  {
    type: 'location_provider',
    which: 'property',
    label: t('an unassigned provider with a property'),
    counted: t('unassigned providers with a property'),
  },
  { type: 'any', which: 'all', label: ANY_OBJECT.any, counted: ALL_OBJECTS.any },
  {
    type: 'any',
    which: 'property',
    label: t('a trackable or unassigned provider with a property'),
    counted: t('trackables and unassigned providers with a property'),
  },
] as const;

const NAMED_TRACKABLES = WHO.find(({ type, which }) => type === 'trackable' && which === 'some');

function Who({ draft, onChange }: PartProps) {
  const { object_type: type, property } = draft;
  const named = draft.trackable_ids ?? draft.provider_ids;
  const which = property != null ? 'property' : named != null ? 'some' : 'all';
  const at = WHO.findIndex((each) => each.type === (type ?? 'trackable') && each.which === which);
  const choose = (chosen: (typeof WHO)[number]): void => {
    onChange({
      object_type: chosen.type === 'trackable' ? null : chosen.type,
      trackable_ids: chosen.which === 'some' && chosen.type === 'trackable' ? [] : null,
      provider_ids: chosen.which === 'some' && chosen.type === 'location_provider' ? [] : null,
      property: chosen.which === 'property' ? (property ?? { name: '', value: '' }) : null,
    });
  };
  return (
    <Select
      aria-label={t('Which objects')}
      value={String(at)}
      options={WHO.map(({ type: its, label, counted }, i) => ({
        type: its,
        value: String(i),
        label: COUNTING.has(draft.kind) ? counted : label,
      })).filter((option) => {
        if (ON_LISTED_TRACKABLES.has(draft.kind)) return WHO[Number(option.value)] === NAMED_TRACKABLES;
        return !ON_TRACKABLES.has(draft.kind) || option.type === 'trackable';
      })}
      onChange={(next) => {
        const chosen = WHO[Number(next)];
        if (chosen !== undefined) choose(chosen);
      }}
    />
  );
}

function Long({ draft, onChange }: PartProps) {
  const isOptional = MAY_HOLD_AT_ONCE.has(draft.kind);
  const ms = draft.longer_than ?? (isOptional ? 0 : UNIT_MS);
  const unit = UNITS.findLast(({ value }) => ms % Number(value) === 0)?.value ?? '1000';
  const [chosen, setChosen] = useState(unit);
  return (
    <>
      <NumberInput
        class={styles.number}
        aria-label={t('How long')}
        min={isOptional ? 0 : 1}
        step="any"
        value={ms / Number(chosen)}
        onInput={(value) => {
          if (value !== undefined) onChange({ longer_than: Math.round(value * Number(chosen)) || null });
        }}
      />{' '}
      <Select
        aria-label={t('Unit of time')}
        value={chosen}
        options={UNITS}
        onChange={(next) => {
          onChange({ longer_than: Math.round((ms / Number(chosen)) * Number(next)) || null });
          setChosen(next);
        }}
      />
    </>
  );
}

/** Inputs for the objects that a sentence only calls some. */
export function WhoIsMeant({ draft, error, onChange }: PartProps & { readonly error: unknown }) {
  const { property, trackable_ids: trackables, provider_ids: providers } = draft;
  if (property != null) {
    return (
      <div class={styles.pair}>
        <TextField
          label={t('Property')}
          placeholder="type"
          value={property.name}
          error={errorAt(error, 'property.name')}
          onInput={(name) => onChange({ property: { ...property, name } })}
        />
        <TextField
          label={t('Its value')}
          placeholder="forklift"
          value={String(property.value)}
          onInput={(value) => onChange({ property: { ...property, value } })}
        />
      </div>
    );
  }
  if (providers != null) {
    return (
      <Picker
        kind="providers"
        label={t('Any of these providers')}
        ids={providers}
        onChange={(next) => onChange({ provider_ids: [...next] })}
      />
    );
  }
  if (trackables == null) return null;
  return (
    <Picker
      kind="trackables"
      label={t('Any of these trackables')}
      ids={trackables}
      onChange={(next) => onChange({ trackable_ids: [...next] })}
    />
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type AlertPreview, type AlertRule, SEVERITIES } from '../../model/alert.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { SelectField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { NumberInput } from '../controls/number_input.tsx';
import { type Option, Select } from '../controls/select.tsx';
import { ago } from '../controls/time.ts';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { type FailedRequest, errorAt, RequestError, request } from '../hub/rest.ts';
import { type Text, t, tParts } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { errorText } from '../problems/sentences.ts';
import { ANY_OBJECT, nameOf, objectNameOf, SEVERITY_LOOKS } from './alert_text.ts';
import { Picker } from './picker.tsx';
import styles from './rule_dialog.module.css';

type Draft = Omit<AlertRule, 'id'>;
type Kind = AlertRule['kind'];

/**
 * Sentence of each kind of rule, with placeholders for its parameters: `{who}`, `{where}`, `{long}` and `{many}`. Each is a
 * whole sentence, so that translations can change the word order.
 */
const SENTENCES = {
  entry: 'Alert when {who} enters {where}',
  exit: 'Alert when {who} leaves {where}',
  inside_longer: 'Alert when {who} is in {where} for longer than {long}',
  more_inside: 'Alert when {where} has more than {many} inside, counting {who}',
  silent: 'Alert when {who} is silent for longer than {long}',
  collision: 'Alert when {who} collides with another',
} as const satisfies Readonly<Record<Kind, Text>>;

const KINDS: readonly Option<Kind>[] = [
  { value: 'entry', label: t('Enters') },
  { value: 'exit', label: t('Leaves') },
  { value: 'inside_longer', label: t('Stays too long') },
  { value: 'more_inside', label: t('Too many inside') },
  { value: 'silent', label: t('Falls silent') },
  { value: 'collision', label: t('Collides') },
];

const SEVERITY_OPTIONS = SEVERITIES.map((value) => ({ value, label: SEVERITY_LOOKS[value].label }));
const UNITS = [
  { value: '1000', label: t('seconds') },
  { value: '60000', label: t('minutes') },
  { value: '3600000', label: t('hours') },
] as const;
const PATIENCE_MS = 300;

/** Dialog that edits a rule as a sentence, and previews the alerts that it would raise now. */
export function RuleDialog({
  rule,
  onClose,
  onSaved,
}: {
  /** The rule to edit; undefined for a new one. */
  readonly rule: AlertRule | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const [draft, setDraft] = useState<Draft>(() => rule ?? { name: '', kind: 'entry', severity: 'warning' });
  const [error, setError] = useState<unknown>();
  const change = (changed: Partial<Draft>): void => {
    setError(undefined);
    setDraft({ ...draft, ...changed });
  };
  const body = bodyOf(draft);
  const missing = missingInputOf(body);
  const save = async (): Promise<void> => {
    if (missing !== undefined || draft.name.trim() === '') {
      setError(new RequestError(400, missing ?? { params: { path: 'name' }, message: t('Give it a name') }));
      return;
    }
    try {
      if (rule === undefined) await request('POST', '/alerts/rules', { body });
      else await request('PUT', `/alerts/rules/${encodeURIComponent(rule.id)}`, { body });
      toast(t('The rule is saved'));
      onSaved();
    } catch (problem) {
      setError(problem);
    }
  };
  const isNamed = error instanceof RequestError && ['name', 'property.name'].includes(error.field ?? '');
  return (
    <Dialog
      wide
      title={rule === undefined ? t('New alert rule') : t('Change the alert rule')}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="main" onClick={() => void save()}>
            {t('Save rule')}
          </Button>
        </>
      }
    >
      <fieldset class={`${flow.row} ${styles.kinds}`} aria-label={t('What to watch for')}>
        {KINDS.map(({ value, label }) => (
          <Button key={value} aria-pressed={value === draft.kind} onClick={() => change(ofKind(value))}>
            {label}
          </Button>
        ))}
      </fieldset>
      <Sentence draft={draft} onChange={change} />
      <WhoIsMeant draft={draft} error={error} onChange={change} />
      {draft.fence_ids != null && SENTENCES[draft.kind].includes('{where}') && (
        <Picker
          kind="fences"
          label={t('Any of these fences')}
          ids={draft.fence_ids}
          onChange={(ids) => change({ fence_ids: [...ids] })}
        />
      )}
      <div class={styles.pair}>
        <TextField
          label={t('Name')}
          placeholder={t('What people see of an alert')}
          value={draft.name}
          error={errorAt(error, 'name')}
          onInput={(name) => change({ name })}
        />
        <SelectField
          label={t('Severity')}
          value={draft.severity ?? 'warning'}
          options={SEVERITY_OPTIONS}
          onChange={(severity) => change({ severity })}
        />
      </div>
      {error !== undefined && !isNamed && <Notice tone="danger">{errorText(error)}</Notice>}
      <Preview body={body} lack={lack?.message} />
    </Dialog>
  );
}

/** Changes to the draft of a rule when its kind changes: only trackables collide. */
function ofKind(kind: Kind): Partial<Draft> {
  return kind === 'collision' ? { kind, object_type: null, provider_ids: null } : { kind };
}

/** Request body of a rule, without members that do not apply to its kind. */
function bodyOf(draft: Draft): Draft {
  const { fence_ids: fences, longer_than: long, more_than: many, ...rest } = draft;
  const has = (place: string): boolean => SENTENCES[draft.kind].includes(place);
  return {
    ...rest,
    ...(has('{where}') && fences != null && { fence_ids: fences }),
    ...(has('{long}') && { longer_than: long ?? UNIT_MS }),
    ...(has('{many}') && { more_than: many ?? 0 }),
  };
}

/** Returns the first missing input; undefined for a complete rule. */
function missingInputOf(draft: Draft): FailedRequest | undefined {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers, property } = draft;
  if (fences?.length === 0) return { message: t('Choose at least one fence') };
  if (trackables?.length === 0) return { message: t('Choose at least one trackable') };
  if (providers?.length === 0) return { message: t('Choose at least one provider') };
  if (property?.name !== '') return undefined;
  return { params: { path: 'property.name' }, message: t('Name the property') };
}

/** Default duration of a new rule. */
const UNIT_MS = 10 * 60_000;

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (changed: Partial<Draft>) => void;
}

/** Sentence of a rule with controls in place of its parameters. */
function Sentence({ draft, onChange }: PartProps) {
  const places: Readonly<Record<'who' | 'where' | 'long' | 'many', ComponentChildren>> = {
    who: <Who draft={draft} onChange={onChange} />,
    where: (
      <Select
        aria-label={t('Which fences')}
        value={draft.fence_ids == null ? 'all' : 'some'}
        options={[
          { value: 'all', label: t('any fence') },
          { value: 'some', label: t('one of these fences') },
        ]}
        onChange={(which) => onChange({ fence_ids: which === 'all' ? null : [] })}
      />
    ),
    long: <Long draft={draft} onChange={onChange} />,
    many: (
      <NumberInput
        class={styles.number}
        aria-label={t('How many')}
        min={0}
        step="1"
        value={draft.more_than ?? 0}
        onInput={(many) => onChange({ more_than: many ?? 0 })}
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

/** Options for the objects of a rule. */
const WHO = [
  { type: 'trackable', which: 'all', label: ANY_OBJECT.trackable },
  { type: 'trackable', which: 'some', label: t('one of these trackables') },
  { type: 'trackable', which: 'property', label: t('a trackable with a property') },
  { type: 'location_provider', which: 'all', label: ANY_OBJECT.location_provider },
  { type: 'location_provider', which: 'some', label: t('one of these providers') },
  { type: 'location_provider', which: 'property', label: t('an unassigned provider with a property') },
  { type: 'any', which: 'all', label: ANY_OBJECT.any },
  { type: 'any', which: 'property', label: t('a trackable or unassigned provider with a property') },
] as const;

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
      class={styles.who}
      aria-label={t('Which objects')}
      value={String(at)}
      options={WHO.map(({ type: its, label }, i) => ({ type: its, value: String(i), label })).filter(
        (option) => draft.kind !== 'collision' || option.type === 'trackable',
      )}
      onChange={(next) => {
        const chosen = WHO[Number(next)];
        if (chosen !== undefined) choose(chosen);
      }}
    />
  );
}

function Long({ draft, onChange }: PartProps) {
  const ms = draft.longer_than ?? UNIT_MS;
  const unit = UNITS.findLast(({ value }) => ms % Number(value) === 0)?.value ?? '1000';
  const [chosen, setChosen] = useState(unit);
  return (
    <>
      <NumberInput
        class={styles.number}
        aria-label={t('How long')}
        min={1}
        step="any"
        value={ms / Number(chosen)}
        onInput={(value) => {
          if (value !== undefined) onChange({ longer_than: Math.round(value * Number(chosen)) });
        }}
      />{' '}
      <Select
        aria-label={t('Unit of time')}
        value={chosen}
        options={UNITS}
        onChange={(next) => {
          onChange({ longer_than: Math.round((ms / Number(chosen)) * Number(next)) });
          setChosen(next);
        }}
      />
    </>
  );
}

function WhoIsMeant({ draft, error, onChange }: PartProps & { readonly error: unknown }) {
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

/** Lists the alerts that the rule would raise now. */
function Preview({ body, missing }: { readonly body: Draft; readonly missing: string | undefined }) {
  const [found, setFound] = useState<AlertPreview>();
  const text = JSON.stringify({ ...body, name: body.name || t('Preview') });
  useEffect(() => {
    setFound(undefined);
    if (missing !== undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      const options = { body: JSON.parse(text), signal: asking.signal };
      request<AlertPreview>('POST', '/alerts/rules/preview', options).then(
        (preview) => !asking.signal.aborted && setFound(preview),
        () => !asking.signal.aborted && setFound(undefined),
      );
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text, missing]);
  const nowMs = Date.now();
  return (
    <section class={styles.preview} aria-label={t('Preview')} aria-live="polite">
      <h3 class={typography.caption}>{t('At this moment')}</h3>
      <p>{found === undefined ? t('Complete the sentence to see what it is about.') : previewText(body.kind, found)}</p>
      {found !== undefined && found.matches.length > 0 && (
        <ul class={styles.matches}>
          {found.matches.slice(0, 8).map((match) => (
            <li key={`${match.fence_id} ${match.trackable_id} ${match.provider_id}`}>
              <strong>{match.count == null ? objectNameOf(match) : nameOf('fences', match.fence_id)}</strong>
              {match.count == null && match.fence_id != null && <span>{nameOf('fences', match.fence_id)}</span>}
              {match.count != null && <span>{countText(match.count)}</span>}
              {match.since != null && <span>{ago(nowMs - Date.parse(match.since))}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function previewText(kind: Kind, { watched, total }: AlertPreview): string {
  const all = countText(watched);
  const some = countText(total);
  switch (kind) {
    case 'entry':
      return t('Objects that are watched: {all}. Inside now, whose entries it would have alerted of: {some}.', {
        all,
        some,
      });
    case 'exit':
      return t('Objects that are watched: {all}. Inside now, whose exits it will alert of: {some}.', { all, some });
    case 'inside_longer':
      return t('Objects that are watched: {all}. Inside for longer than that: {some}.', { all, some });
    case 'more_inside':
      return t('Objects that are counted: {all}. Fences with more than that inside: {some}.', { all, some });
    case 'silent':
      return t('Objects that are watched: {all}. Silent for longer than that: {some}.', { all, some });
    case 'collision':
      return t('Objects that are watched: {all}. Collisions are alerted of as they begin.', { all });
  }
}

import { useState } from 'preact/hooks';
import { type AlertRule, SEVERITIES } from '../../model/alert.ts';
import type { Sink } from '../../model/sink.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Checks, SelectField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import type { Option } from '../controls/select.tsx';
import { toast } from '../controls/toasts.tsx';
import { useLoaded } from '../controls/use_loaded.ts';
import { can } from '../hub/access.ts';
import { errorAt, get, RequestError, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { SEVERITY_LOOKS } from './alert_text.ts';
import { Picker } from './picker.tsx';
import styles from './rule_dialog.module.css';
import {
  bodyOf,
  mayNameFences,
  missingInputOf,
  ofKind,
  ON_LISTED_TRACKABLES,
  type RuleDraft,
  type RuleKind,
} from './rule_draft.ts';
import { RulePreview } from './rule_preview.tsx';
import { Sentence, WhoIsMeant } from './rule_sentence.tsx';
import { ScheduleFields } from './schedule_fields.tsx';

const KINDS: readonly Option<RuleKind>[] = [
  { value: 'entry', label: t('Enters') },
  { value: 'exit', label: t('Leaves') },
  { value: 'inside_longer', label: t('Stays too long') },
  { value: 'more_inside', label: t('Too many inside') },
  { value: 'silent', label: t('Falls silent') },
  { value: 'collision', label: t('Collides') },
  { value: 'count_below', label: t('Too few inside') },
  { value: 'gate', label: t('Crosses a gate') },
  { value: 'speed', label: t('Moves too fast') },
  { value: 'separated', label: t('Is too far away') },
  { value: 'together', label: t('Is too close') },
];

const SEVERITY_OPTIONS = SEVERITIES.map((value) => ({ value, label: SEVERITY_LOOKS[value].label }));

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
  const [draft, setDraft] = useState<RuleDraft>(() => rule ?? { name: '', kind: 'entry', severity: 'warning' });
  const [error, setError] = useState<unknown>();
  const change = (changed: Partial<RuleDraft>): void => {
    setError(undefined);
    setDraft({ ...draft, ...changed });
  };
  const body = bodyOf(draft);
  const missing = missingInputOf(body);
  const save = async (): Promise<void> => {
    if (missing !== undefined || draft.name.trim() === '') {
      setError(new RequestError(400, missing ?? { params: { path: 'name' }, message: t('Enter a name') }));
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
  const isNamed = ['name', 'property.name', 'sinks'].some((field) => errorAt(error, field) !== undefined);
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
      <fieldset class={`${flow.row} ${styles.kinds}`} aria-label={t('Condition')}>
        {KINDS.map(({ value, label }) => (
          <Button key={value} aria-pressed={value === draft.kind} onClick={() => change(ofKind(value, draft))}>
            {label}
          </Button>
        ))}
      </fieldset>
      <Sentence draft={draft} onChange={change} />
      <WhoIsMeant draft={draft} error={error} onChange={change} />
      {draft.fence_ids != null && mayNameFences(draft.kind) && (
        <Picker
          kind="fences"
          label={t('Any of these fences')}
          ids={draft.fence_ids}
          onChange={(ids) => change({ fence_ids: [...ids] })}
        />
      )}
      {draft.other_trackable_ids != null && ON_LISTED_TRACKABLES.has(draft.kind) && (
        <Picker
          kind="trackables"
          label={t('These other trackables')}
          ids={draft.other_trackable_ids}
          onChange={(ids) => change({ other_trackable_ids: [...ids] })}
        />
      )}
      <ScheduleFields schedule={draft.schedule} onChange={(schedule) => change({ schedule })} />
      <div class={styles.pair}>
        <TextField
          label={t('Name')}
          placeholder={t('Shown in the alert, e.g. "Forklift left dock"')}
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
      <RuleSinks
        ids={draft.sinks ?? []}
        error={errorAt(error, 'sinks')}
        onChange={(sinks) => change({ sinks: sinks.length === 0 ? null : sinks })}
      />
      {error !== undefined && !isNamed && <Notice tone="danger">{errorText(error)}</Notice>}
      <RulePreview body={body} missing={missing?.message} />
    </Dialog>
  );
}

/** Choice of the sinks that receive the alerts of a rule; hidden without sinks, and from users who may not read them. */
function RuleSinks({
  ids,
  error,
  onChange,
}: {
  readonly ids: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (ids: string[]) => void;
}) {
  const sinks = useLoaded(() => (can('READ', '/sinks') ? get<readonly Sink[]>('/sinks') : undefined), []);
  const names = new Map(sinks?.map(({ id, name }) => [id, name]));
  // A sink that was deleted, or that the user may not read, is shown by its id.
  const all = [...new Set([...names.keys(), ...ids])];
  if (all.length === 0) return null;
  return (
    <Checks
      label={t('Also send its alerts to these sinks')}
      error={error}
      options={all.map((value) => ({ value, label: names.get(value) ?? value }))}
      values={ids}
      onChange={onChange}
    />
  );
}

import { useId, useMemo, useState } from 'preact/hooks';
import type { Trackable } from '../../model/trackable.ts';
import { Button, IconButton } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import fieldStyles from '../controls/field.module.css';
import { Field, NumberField, SelectField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Failures, Progress } from '../controls/progress.tsx';
import type { Option } from '../controls/select.tsx';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { labelOfPath, valueText } from '../drafts/member_text.ts';
import { type Entities, type Kind, kindsText, labelOf, SINGULAR } from '../hub/entity_kinds.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countedText, countText } from '../languages/numbers.ts';
import styles from './bulk_dialog.module.css';
import {
  BULK_FIELDS,
  type BulkField,
  type BulkPlan,
  type Edit,
  type PreviewRow,
  planAssignment,
  planEdits,
  propertyValue,
} from './bulk_plan.ts';
import { type NamedFailure, sendWrites, undoingWrites, useWork, type WorkOptions } from './bulk_work.ts';

const SHOWN_MAX = 200;
const OFFERED_MAX = 200;

type How = 'set' | 'forever' | 'clear';

/** One line of the form: a field and its new value. */
interface Line {
  readonly key: number;
  readonly field: BulkField;
  readonly how: How;
  readonly number: number | undefined;
  /** Name of a property or of a trackable. */
  readonly name: string;
  readonly text: string;
}

interface BulkDialogProps<K extends Kind> {
  readonly kind: K;
  readonly entities: readonly Entities[K][];
  readonly onClose: () => void;
}

/** Dialog that changes fields of many entities, with a preview of each change, and undo. */
export function BulkDialog<K extends Kind>({ kind, entities, onClose }: BulkDialogProps<K>) {
  const fields = BULK_FIELDS[kind];
  const [lines, setLines] = useState<readonly Line[]>(() => [lineOf(fields[0] as BulkField, 0)]);
  const trackables = useEntities('trackables');
  const { isRunning, failures, count, run } = useWork(onClose);
  const plan = useMemo(() => planOf(kind, entities, { lines, trackables }), [kind, entities, lines, trackables]);
  const change = (key: number, to: Partial<Line>): void =>
    setLines(lines.map((line) => (line.key === key ? { ...line, ...to } : line)));
  const what = countedText(plan?.changed ?? 0, SINGULAR[kind]);
  const send = async (options: WorkOptions): Promise<readonly NamedFailure[]> => {
    const { done, failures: failed } = await sendWrites(plan?.writes ?? [], options);
    const text = failed.length === 0 && !options.signal.aborted ? what : countedText(done.length, SINGULAR[kind]);
    if (done.length > 0) toast(t('{what} changed', { what: text }), 'ok', undoingWrites(done, text));
    return failed.map(({ item, reason }) => ({ label: item.label, reason }));
  };
  return (
    <Dialog
      wide
      title={t('Change {what}', { what: countedText(entities.length, SINGULAR[kind]) })}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{isRunning ? t('Stop') : t('Cancel')}</Button>
          <Button
            kind="main"
            disabled={isRunning || plan === undefined || plan.changed === 0}
            onClick={() => void run(send)}
          >
            {t('Change {what}', { what })}
          </Button>
        </>
      }
    >
      {lines.map((line) => (
        <LineFields
          key={line.key}
          kind={kind}
          line={line}
          onChange={(to) => change(line.key, to)}
          onRemove={lines.length === 1 ? undefined : () => setLines(lines.filter(({ key }) => key !== line.key))}
        />
      ))}
      <div class={flow.row}>
        <Button
          kind="quiet"
          icon="plus"
          onClick={() => setLines([...lines, lineOf(nextField(fields, lines), (lines.at(-1)?.key ?? 0) + 1)])}
        >
          {t('Add field')}
        </Button>
      </div>
      {isRunning && <Progress label={t('Changing {what}', { what })} done={count} total={plan?.writes.length ?? 0} />}
      <Failures
        title={t('{count} could not be changed', { count: countText(failures.length) })}
        rows={failures.map(({ label, reason }) => [label, reason])}
      />
      <Preview plan={plan} total={entities.length} kind={kind} />
    </Dialog>
  );
}

function lineOf(field: BulkField, key: number): Line {
  return { key, field, how: 'set', number: undefined, name: '', text: '' };
}

function nextField(fields: readonly BulkField[], lines: readonly Line[]): BulkField {
  const used = new Set(lines.map(({ field }) => field.name));
  return (fields.find(({ name }) => !used.has(name)) ?? fields.at(-1)) as BulkField;
}

function LineFields({
  kind,
  line,
  onChange,
  onRemove,
}: {
  readonly kind: Kind;
  readonly line: Line;
  readonly onChange: (to: Partial<Line>) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const { field, how } = line;
  const { unit } = field;
  const isNumber = unit === 's' || unit === 'm' || unit === 'floor';
  const choose = (name: string): void => {
    const next = BULK_FIELDS[kind].find((each) => each.name === name);
    if (next !== undefined) onChange({ ...lineOf(next, line.key), field: next });
  };
  return (
    <div class={styles.line}>
      <SelectField
        label={t('Field')}
        value={field.name}
        options={BULK_FIELDS[kind].map(({ name }) => ({ value: name, label: fieldLabel(name) }))}
        onChange={choose}
      />
      {unit === 'property' && (
        <TextField label={t('Property')} value={line.name} onInput={(name) => onChange({ name })} placeholder="owner" />
      )}
      <SelectField
        label={t('Becomes')}
        value={how}
        options={HOWS.filter(({ value }) => value !== 'forever' || unit === 's')}
        onChange={(next) => onChange({ how: next })}
      />
      {how === 'set' && isNumber && (
        <NumberField
          label={t('New value')}
          value={line.number}
          {...(unit === 'floor' ? { step: '1' } : { unit, min: 0 })}
          onInput={(number) => onChange({ number })}
        />
      )}
      {how === 'set' && unit === 'property' && (
        <TextField
          label={t('New value')}
          value={line.text}
          onInput={(text) => onChange({ text })}
          placeholder={t('Lab 3')}
        />
      )}
      {how === 'set' && unit === 'trackable' && (
        <TrackableField name={line.name} onInput={(name) => onChange({ name })} />
      )}
      {onRemove !== undefined && (
        <IconButton class={styles.remove} icon="trash" label={t('Remove field')} onClick={onRemove} />
      )}
    </div>
  );
}

const HOWS: readonly Option<How>[] = [
  { value: 'set', label: t('Set to') },
  { value: 'forever', label: t('Forever') },
  { value: 'clear', label: t('Not set') },
];

/** Input for a trackable's name or id. */
function TrackableField({ name, onInput }: { readonly name: string; readonly onInput: (name: string) => void }) {
  const trackables = useEntities('trackables');
  const listId = useId();
  const isUnknown = name !== '' && trackableNamed(trackables, name) === undefined;
  return (
    <Field label={t('Trackable')} error={isUnknown ? t('No trackable has this name or id.') : undefined}>
      {(ids) => (
        <>
          <input
            {...ids}
            class={fieldStyles.input}
            list={listId}
            value={name}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {[...trackables.values()].slice(0, OFFERED_MAX).map((trackable) => (
              <option key={trackable.id} value={labelOf(trackable)} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

function trackableNamed(trackables: ReadonlyMap<string, Trackable>, name: string): Trackable | undefined {
  return trackables.get(name) ?? [...trackables.values()].find((each) => each.name === name);
}

/** Plan of the changes; undefined while a line is incomplete. */
function planOf<K extends Kind>(
  kind: K,
  entities: readonly Entities[K][],
  { lines, trackables }: { readonly lines: readonly Line[]; readonly trackables: ReadonlyMap<string, Trackable> },
): BulkPlan | undefined {
  const edits: Edit[] = [];
  const plans: BulkPlan[] = [];
  for (const { field, how, number, name, text } of lines) {
    const path = field.unit === 'property' ? [field.name, name.trim()] : [field.name];
    if (field.unit === 'property' && name.trim() === '') return undefined;
    if (field.unit === 'trackable') {
      const target = how === 'clear' ? undefined : trackableNamed(trackables, name);
      if (how !== 'clear' && target === undefined) return undefined;
      plans.push(planAssignment(entities as readonly Entities['providers'][], trackables.values(), target));
    } else if (how === 'clear') edits.push({ path, value: undefined });
    else if (how === 'forever') edits.push({ path, value: -1 });
    else if (field.unit === 'property') edits.push({ path, value: propertyValue(text) });
    else if (number === undefined) return undefined;
    else edits.push({ path, value: field.unit === 's' ? Math.round(number * 1_000) : number });
  }
  if (edits.length > 0) plans.push(planEdits(kind, entities, edits));
  const rows = plans.flatMap((plan) => plan.rows);
  return {
    writes: plans.flatMap(({ writes }) => writes),
    rows,
    changed: new Set(rows.map(({ id }) => id)).size,
  };
}

/** List of the first changes. */
function Preview({
  plan,
  total,
  kind,
}: {
  readonly plan: BulkPlan | undefined;
  readonly total: number;
  readonly kind: Kind;
}) {
  if (plan === undefined) return <p class={typography.faint}>{t('Enter a value to preview the changes.')}</p>;
  const same = total - plan.changed;
  return (
    <section aria-label={t('Preview')}>
      <p class={styles.summary}>
        <strong>
          {t('{changed} of {total} {kind} change', {
            changed: countText(plan.changed),
            total: countText(total),
            kind: kindsText(kind),
          })}
        </strong>
        {same > 0 && <span class={typography.faint}>{t('{count} unchanged', { count: countText(same) })}</span>}
      </p>
      {plan.rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable list needs keyboard focus
        <ul class={styles.preview} tabIndex={0} aria-label={t('Changes')}>
          {plan.rows.slice(0, SHOWN_MAX).map((row) => (
            <PreviewLine key={`${row.id} ${row.path.join(' ')}`} row={row} />
          ))}
          {plan.rows.length > SHOWN_MAX && (
            <li>{t('… and {count} more', { count: countText(plan.rows.length - SHOWN_MAX) })}</li>
          )}
        </ul>
      )}
    </section>
  );
}

function PreviewLine({ row: { label, path, from, to } }: { readonly row: PreviewRow }) {
  return (
    <li>
      <span class={typography.cut}>{label}</span>
      <span class={typography.soft}>{labelOfPath(path)}</span>
      <span class={typography.cut}>
        <del>{valueText(path, from)}</del> → <strong>{valueText(path, to)}</strong>
      </span>
    </li>
  );
}

function fieldLabel(name: string): string {
  if (name === 'assignment') return t('Assigned to');
  return name === 'properties' ? t('A property') : labelOfPath([name]);
}

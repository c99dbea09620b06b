import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { unsupportedReason } from '../../../model/json.ts';
import { Button } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { AreaField, Field, NumberField, SelectField, TextField } from '../../controls/field.tsx';
import { NumberInput } from '../../controls/number_input.tsx';
import type { Option } from '../../controls/select.tsx';
import { type Notation, useTyped } from '../../controls/use_typed.ts';
import type { Problems } from '../../drafts/draft_problems.ts';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { errorAt, RequestError } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { loadMessages, pathLabel, sentenceOf } from '../../problems/sentences.ts';
import styles from './draft_fields.module.css';

await loadMessages();

interface DraftFieldProps {
  readonly draft: AnyDraft;
  /** Name of the member, as in errors of the hub. */
  readonly field: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly onFocus?: () => void;
}

/** Value of a member of a draft, or of a member of it, such as `proximity_resolution.min_dwell_duration`; null counts as absent. */
export function memberOf<T>(draft: AnyDraft, field: string): T | undefined {
  const [name = '', inner] = field.split('.');
  const value = (draft.value.value as Readonly<Record<string, unknown>>)[name] ?? undefined;
  if (inner === undefined) return value as T | undefined;
  return ((value as Readonly<Record<string, unknown>> | undefined)?.[inner] ?? undefined) as T | undefined;
}

/** Returns the patch that sets a member of a draft, or a member of it; undefined removes it. */
function patchOf(draft: AnyDraft, field: string, value: unknown): object {
  const [name = '', inner] = field.split('.');
  if (inner === undefined) return { [name]: value };
  const { [inner]: _, ...others } = memberOf<Readonly<Record<string, unknown>>>(draft, name) ?? {};
  return { [name]: value === undefined ? others : { ...others, [inner]: value } };
}

/** Problem of a member or a part of it, found by the page or by the hub. */
export function problemOf(draft: AnyDraft, field: string): string | undefined {
  return problemIn(draft.found.value, field) ?? errorAt(draft.error.value, field);
}

/** Paths of all problems, such as `region.coordinates[0][2]`. */
export function problemPlaces(draft: AnyDraft): readonly string[] {
  const rejected = draft.error.value instanceof RequestError ? draft.error.value.field : undefined;
  return [...draft.found.value.keys(), ...(rejected === undefined ? [] : [rejected])];
}

function problemIn(found: Problems, field: string): string | undefined {
  const exact = found.get(field);
  if (exact !== undefined) return exact;
  const within = [...found].find(([path]) => path.startsWith(`${field}.`) || path.startsWith(`${field}[`));
  return within && `${pathLabel(within[0])}: ${within[1]}`;
}

export function DraftText({
  draft,
  field,
  example,
  isRequired = false,
  ...rest
}: DraftFieldProps & { readonly example?: string; readonly isRequired?: boolean }) {
  return (
    <TextField
      {...rest}
      placeholder={example ?? ''}
      error={problemOf(draft, field)}
      value={memberOf(draft, field) ?? ''}
      onInput={(text) => draft.change({ [field]: text === '' && !isRequired ? undefined : text }, field)}
    />
  );
}

/** Id of an entity whose id the user chooses; it cannot change later. */
export function DraftId({
  draft,
  storedId,
  help,
}: Pick<DraftFieldProps, 'draft' | 'help'> & { readonly storedId: string | undefined }) {
  if (storedId === undefined) return <DraftText draft={draft} field="id" label={t('Id')} isRequired help={help} />;
  return (
    <p class={fieldStyles.help}>
      {t('Id')} <code>{storedId}</code>
    </p>
  );
}

export function DraftNumber({
  draft,
  field,
  example,
  ...rest
}: DraftFieldProps & {
  readonly unit?: string;
  readonly min?: number;
  readonly step?: string;
  readonly example?: string;
}) {
  return (
    <NumberField
      {...rest}
      placeholder={example ?? ''}
      error={problemOf(draft, field)}
      value={memberOf(draft, field)}
      onInput={(value) => draft.change(patchOf(draft, field, value), field)}
    />
  );
}

/** Select for a member; the empty value means absent. */
export function DraftSelect({
  draft,
  field,
  label,
  help,
  options,
}: DraftFieldProps & { readonly options: readonly Option<string>[] }) {
  return (
    <SelectField
      label={label}
      help={help}
      error={problemOf(draft, field)}
      value={memberOf<string>(draft, field) ?? ''}
      options={options}
      onChange={(value) => draft.change(patchOf(draft, field, value === '' ? undefined : value))}
    />
  );
}

/**
 * Input in seconds for a duration, which the API has in milliseconds, -1 for forever. Empty means absent: the next level
 * of configuration applies.
 */
export function DraftDuration({ draft, field, label, help, onFocus }: DraftFieldProps) {
  const value = memberOf<number>(draft, field);
  const isForever = value === -1;
  const set = (next: number | undefined): void => draft.change(patchOf(draft, field, next), field);
  return (
    <Field label={label} help={help} error={problemOf(draft, field)}>
      {(ids) => (
        <div class={styles.duration}>
          <div class={fieldStyles.unit}>
            <NumberInput
              {...ids}
              min={0}
              placeholder={isForever ? t('forever') : t('not set')}
              value={value === undefined || isForever ? undefined : value / 1000}
              {...(onFocus && { onFocus })}
              onInput={(seconds) => set(seconds === undefined ? undefined : Math.round(seconds * 1000))}
            />
            <span>s</span>
          </div>
          <Button
            data-icon-only
            aria-pressed={isForever}
            aria-label={`${label}: ${t('forever')}`}
            title={t('Forever')}
            onClick={() => set(isForever ? undefined : -1)}
          >
            ∞
          </Button>
        </div>
      )}
    </Field>
  );
}

/** Reports an input that cannot be sent while mounted, which blocks saving. */
export function useProblem(draft: AnyDraft, { field, problem }: { field: string; problem: string | undefined }): void {
  useLayoutEffect(() => {
    draft.blame(field, problem);
    return () => draft.blame(field, undefined);
  }, [draft, field, problem]);
}

/** Text area for a value with its own notation. */
export function DraftWritten<T>({
  draft,
  field,
  value,
  notation,
  unreadable,
  onRead,
  ...rest
}: DraftFieldProps & {
  readonly value: T;
  readonly notation: Notation<T>;
  /** Error sentence for text that the notation cannot parse. */
  readonly unreadable: (text: string) => string;
  readonly onRead: (value: T) => void;
  readonly rows?: number;
}) {
  const [text, type] = useTyped(value, notation);
  const problem = notation.read(text) === undefined ? unreadable(text) : undefined;
  useProblem(draft, { field, problem });
  const edit = (next: string): void => {
    type(next);
    const read = notation.read(next);
    if (read !== undefined) onRead(read);
  };
  return <AreaField {...rest} error={problem ?? problemOf(draft, field)} mono value={text} onInput={edit} />;
}

type Properties = Readonly<Record<string, unknown>>;

const PROPERTIES: Notation<Properties> = {
  write: (value) => (Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)),
  read(text) {
    if (text.trim() === '') return {};
    try {
      const value: unknown = JSON.parse(text);
      return isObject(value) && unsupportedReason(value) === undefined ? value : undefined;
    } catch {
      return undefined;
    }
  },
};

function isObject(value: unknown): value is Properties {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Error sentence for text that is not a valid object of properties. */
function whyNoProperties(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value))
      return t('This must be an object in braces, such as {example}.', { example: '{"driver": "Kim"}' });
    const problem = unsupportedReason(value);
    if (problem === undefined) return '';
    const path = String(problem.params['path']);
    if (problem.reason === 'number_too_large') return t('The number at "{path}" is too large to be stored.', { path });
    return `${path}: ${sentenceOf(problem)}`;
  } catch {
    return t('This is not a JSON object yet: look for a missing quote, comma or brace.');
  }
}

/** JSON editor for properties. Members in `hidden` are preserved but not displayed, such as images of some megabytes. */
export function DraftProperties({
  draft,
  hidden = [],
}: {
  readonly draft: AnyDraft;
  readonly hidden?: readonly string[];
}) {
  const members = Object.entries(memberOf<Properties>(draft, 'properties') ?? {});
  const preserved = Object.fromEntries(members.filter(([name]) => hidden.includes(name)));
  const shown = Object.fromEntries(members.filter(([name]) => !hidden.includes(name)));
  return (
    <DraftWritten
      draft={draft}
      field="properties"
      label={t('Properties')}
      help={t('Your own data, as a JSON object. Events of fences carry those of the fence.')}
      value={shown}
      notation={PROPERTIES}
      unreadable={whyNoProperties}
      onRead={(found) => {
        const properties = { ...found, ...preserved };
        draft.change({ properties: Object.keys(properties).length === 0 ? undefined : properties }, 'properties');
      }}
    />
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { errorAt } from '../hub/rest.ts';
import { AreaField, Field, NumberField, SelectField, TextField } from '../parts/field.tsx';
import { type AnyDraft, equal } from './draft.ts';

interface DraftFieldProps {
  readonly draft: AnyDraft;
  /** Name of the member, which is what messages of the hub name. */
  readonly field: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly onFocus?: () => void;
}

/** The value of a member of a draft; null counts as absent. */
export function memberOf<T>(draft: AnyDraft, field: string): T | undefined {
  return ((draft.value.value as Readonly<Record<string, unknown>>)[field] ?? undefined) as T | undefined;
}

/** What is wrong with a member, as the hub says. */
export function problemOf(draft: AnyDraft, field: string): string | undefined {
  return errorAt(draft.error.value, field);
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
      onInput={(value) => draft.change({ [field]: value }, field)}
    />
  );
}

/** One of some values; the empty one stands for absent. */
export function DraftSelect({
  draft,
  field,
  label,
  help,
  options,
}: DraftFieldProps & { readonly options: readonly { readonly value: string; readonly label: string }[] }) {
  return (
    <SelectField
      label={label}
      help={help}
      error={problemOf(draft, field)}
      value={memberOf<string>(draft, field) ?? ''}
      options={options}
      onChange={(value) => draft.change({ [field]: value === '' ? undefined : value })}
    />
  );
}

/**
 * A duration of the API, in milliseconds with -1 for ever, edited in seconds. Empty is absent: the value of whoever
 * comes next counts.
 */
export function DraftDuration({ draft, field, label, help, onFocus }: DraftFieldProps) {
  const value = memberOf<number>(draft, field);
  const isForever = value === -1;
  const set = (next: number | undefined): void => draft.change({ [field]: next }, field);
  return (
    <Field label={label} help={help} error={problemOf(draft, field)}>
      {(ids) => (
        <div class="duration">
          <div class="input-unit">
            <input
              {...ids}
              class="input"
              type="number"
              min={0}
              step="any"
              placeholder={isForever ? 'for ever' : 'not set'}
              value={value === undefined || isForever ? '' : value / 1000}
              {...(onFocus && { onFocus })}
              onInput={({ currentTarget: { value: text, valueAsNumber } }) =>
                set(text === '' ? undefined : Math.round(valueAsNumber * 1000))
              }
            />
            <span>s</span>
          </div>
          <button
            type="button"
            class="button"
            data-icon-only
            aria-pressed={isForever}
            aria-label={`${label}: for ever`}
            title="For ever"
            onClick={() => set(isForever ? undefined : -1)}
          >
            ∞
          </button>
        </div>
      )}
    </Field>
  );
}

/** Properties as JSON. Members in `hidden` are kept, and not shown: an image would be megabytes of text. */
export function DraftProperties({
  draft,
  hidden = [],
}: {
  readonly draft: AnyDraft;
  readonly hidden?: readonly string[];
}) {
  const all = memberOf<Readonly<Record<string, unknown>>>(draft, 'properties') ?? {};
  const shown = Object.fromEntries(Object.entries(all).filter(([name]) => !hidden.includes(name)));
  const [text, setText] = useState(textOf(shown));
  const [problem, setProblem] = useState<string>();
  const blame = (found: string | undefined): void => {
    setProblem(found);
    draft.blame('properties', found);
  };
  useEffect(() => {
    // Changed by an undo, or by somebody else.
    if (equal(parsed(text), shown)) return;
    setText(textOf(shown));
    blame(undefined);
  }, [all]);
  const edit = (next: string): void => {
    setText(next);
    const found = parsed(next);
    if (found === undefined) {
      blame('must be a JSON object');
      return;
    }
    blame(undefined);
    const kept = Object.fromEntries(Object.entries(all).filter(([name]) => hidden.includes(name)));
    const members = { ...found, ...kept };
    draft.change({ properties: Object.keys(members).length === 0 ? undefined : members }, 'properties');
  };
  return (
    <AreaField
      label="Properties"
      help="Your own data, as a JSON object. Events of fences carry those of the fence."
      error={problem ?? problemOf(draft, 'properties')}
      mono
      value={text}
      onInput={edit}
    />
  );
}

function textOf(value: object): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

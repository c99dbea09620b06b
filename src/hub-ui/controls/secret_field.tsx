import { t } from '../languages/language.ts';
import { Check, TextField } from './field.tsx';
import type { SecretInput } from './secret_input.ts';

/** Help text of the input of a stored secret. */
export function keptText(isStored: boolean): string | undefined {
  return isStored ? t('The hub does not show it. Leave it empty to keep the stored value.') : undefined;
}

/** Input for a write-only member. */
export function SecretField({
  label,
  help,
  error,
  isStored,
  value,
  onChange,
}: {
  readonly label: string;
  /** Help text while nothing is stored. */
  readonly help?: string | undefined;
  readonly error?: string | undefined;
  /** Whether the hub may have a stored value. */
  readonly isStored: boolean;
  readonly value: SecretInput;
  readonly onChange: (value: SecretInput) => void;
}) {
  return (
    <div>
      <TextField
        label={label}
        help={keptText(isStored) ?? help}
        error={error}
        type="password"
        autocomplete="new-password"
        spellcheck={false}
        disabled={value.isDeleted}
        value={value.text}
        onInput={(text) => onChange({ ...value, text })}
      />
      {isStored && <DeleteStored value={value} onChange={onChange} />}
    </div>
  );
}

/** Check box that deletes a stored secret. */
export function DeleteStored({
  value,
  onChange,
}: {
  readonly value: SecretInput;
  readonly onChange: (value: SecretInput) => void;
}) {
  return (
    <Check
      label={t('Delete the stored value')}
      checked={value.isDeleted}
      onChange={(isDeleted) => onChange({ text: '', isDeleted })}
    />
  );
}

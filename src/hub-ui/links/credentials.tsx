import fieldStyles from '../controls/field.module.css';
import { SelectField, TextField } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import { SecretField } from '../controls/secret_field.tsx';
import type { Option } from '../controls/select.tsx';
import { errorAt } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import type { CredentialsForm, SignInWay } from './credentials_form.ts';

const WAYS: readonly Option<SignInWay>[] = [
  { value: 'none', label: t('Without a token') },
  { value: 'token', label: t('With an access token') },
  { value: 'oidc', label: t('With client credentials (OAuth 2.0)') },
];

const TOKEN_URL = 'https://auth.example/token';

/** Inputs of the credentials for another hub. */
export function Credentials({
  form,
  error,
  isStored,
  tokenField,
  change,
}: {
  readonly form: CredentialsForm;
  readonly error: unknown;
  /** Whether the hub may have stored credentials. */
  readonly isStored: boolean;
  /** Member with the token, as in errors of the hub. */
  readonly tokenField: string;
  readonly change: (changed: Partial<CredentialsForm>) => void;
}) {
  const kept: Option<SignInWay> = { value: 'kept', label: t('As stored; the hub does not show it') };
  return (
    <>
      <SelectField
        label={t('Sign in at the other hub')}
        value={form.way}
        options={isStored ? [kept, ...WAYS] : WAYS}
        onChange={(way) => change({ way })}
      />
      {form.way === 'token' && (
        <SecretField
          label={t('Access token')}
          error={errorAt(error, tokenField)}
          isStored={false}
          value={{ text: form.token, isDeleted: false }}
          onChange={({ text }) => change({ token: text })}
        />
      )}
      {form.way === 'kept' && errorAt(error, tokenField) !== undefined && (
        <Notice tone="danger">{errorAt(error, tokenField)}</Notice>
      )}
      {form.way === 'oidc' && (
        <div class={fieldStyles.fields}>
          <TextField
            label={t('Token URL')}
            type="url"
            placeholder={TOKEN_URL}
            error={errorAt(error, 'oidc.token_url')}
            value={form.token_url}
            onInput={(token_url) => change({ token_url })}
          />
          <TextField
            label={t('Client id')}
            error={errorAt(error, 'oidc.client_id')}
            value={form.client_id}
            onInput={(client_id) => change({ client_id })}
          />
          <SecretField
            label={t('Client secret')}
            error={errorAt(error, 'oidc.client_secret')}
            isStored={isStored}
            value={form.client_secret}
            onChange={(client_secret) => change({ client_secret })}
          />
          <TextField
            label={t('Scopes')}
            error={errorAt(error, 'oidc.scope')}
            value={form.scope}
            onInput={(scope) => change({ scope })}
          />
        </div>
      )}
    </>
  );
}

import type { Link } from '../../model/link.ts';
import { NO_SECRET, type SecretInput, secretMember } from '../controls/secret_input.ts';

/** How this hub signs in at another one. `kept`: as stored, which the hub does not show. */
export type SignInWay = 'kept' | 'none' | 'token' | 'oidc';

/** Inputs of the credentials for another hub. */
export interface CredentialsForm {
  readonly way: SignInWay;
  readonly token: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: SecretInput;
  readonly scope: string;
}

/** Inputs for the stored credentials of a link or a sink; undefined for a new one. */
export function credentialsFormOf(stored: Pick<Link, 'oidc'> | undefined): CredentialsForm {
  const { oidc } = stored ?? {};
  return {
    way: stored === undefined ? 'none' : oidc == null ? 'kept' : 'oidc',
    token: '',
    token_url: oidc?.token_url ?? '',
    client_id: oidc?.client_id ?? '',
    client_secret: NO_SECRET,
    scope: oidc?.scope ?? '',
  };
}

export function isTokenMissing({ way, token }: CredentialsForm): boolean {
  return way === 'token' && token === '';
}

/** Members of a request: null deletes a stored token, and undefined retains it. */
export function credentialsOf(form: CredentialsForm): {
  readonly token: string | null | undefined;
  readonly oidc: object | undefined;
} {
  switch (form.way) {
    case 'kept':
      return { token: undefined, oidc: undefined };
    case 'none':
      return { token: null, oidc: undefined };
    case 'token':
      return { token: form.token, oidc: undefined };
    case 'oidc': {
      const { token_url, client_id, client_secret, scope } = form;
      const names = { token_url: token_url.trim(), client_id: client_id.trim() };
      const oidc = { ...names, client_secret: secretMember(client_secret), scope: scope.trim() || undefined };
      return { token: null, oidc };
    }
  }
}

import { signal } from '@preact/signals';

/** Access token; undefined if the hub requires none or the user has not signed in. */
export const accessToken = signal<string | undefined>(undefined);

/** Sign-in state of the user, on a hub with authorization. */
export interface Session {
  /** `in`: signed in. `out`: not yet. `ended`: was signed in, and the token could not be renewed. */
  readonly state: 'in' | 'out' | 'ended';
  readonly name: string;
  /** Unique id of the user; names need not be unique. */
  readonly subject: string;
  /** Error of the last attempt. */
  readonly problem?: string | undefined;
  signIn(): void;
  /** Signs in by an API key, on a hub without an identity server. Sets `problem` if the hub rejects the key. */
  signInByKey?(key: string): Promise<void>;
  signOut(): void;
}

/** Session of the user; undefined on a hub without authorization. */
export const session = signal<Session | undefined>(undefined);

/** Renews the token after a 401. Resolves to false if that needs the user. */
export type Renew = () => Promise<boolean>;

let renew: Renew = async () => false;

/** Sets the function that renews the token. */
export function setRenew(how: Renew): void {
  renew = how;
}

export function renewAccess(): Promise<boolean> {
  return renew();
}

export type Operation = 'CREATE' | 'READ' | 'UPDATE' | 'DELETE';

/** Permission check that decides which controls are shown. Permits everything on a hub without authorization. */
export const permits = signal<(operation: Operation, path: string) => boolean>(() => true);

/** Returns whether the user may assign a provider to a trackable, existing or new. */
export function mayAssign(): boolean {
  return can('CREATE', '/trackables') || can('UPDATE', '/trackables/any');
}

/** Returns whether the user may perform an operation on an API path without its version: `can('CREATE', '/fences')`. */
export function can(operation: Operation, path: string): boolean {
  return permits.value(operation, path);
}

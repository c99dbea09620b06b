import { signal } from '@preact/signals';

/** The access token; undefined where the hub wants none, or nobody has signed in. */
export const accessToken = signal<string | undefined>(undefined);

/** Who uses the page, where the hub wants to know. */
export interface Session {
  /** `in`: signed in. `out`: not yet. `ended`: was signed in, and the token could not be renewed. */
  readonly state: 'in' | 'out' | 'ended';
  readonly name: string;
  /** Tells people apart who have the same name. */
  readonly subject: string;
  /** Why the last attempt has failed. */
  readonly problem?: string | undefined;
  signIn(): void;
  signOut(): void;
}

/** Undefined where the hub does not ask who somebody is. */
export const session = signal<Session | undefined>(undefined);

/** Gets a new token after a refusal. Returns false when that cannot be done without the user. */
export type Renew = () => Promise<boolean>;

let renew: Renew = async () => false;

/** Says how a token is renewed. */
export function setRenew(how: Renew): void {
  renew = how;
}

export function renewAccess(): Promise<boolean> {
  return renew();
}

export type Operation = 'CREATE' | 'READ' | 'UPDATE' | 'DELETE';

/** What the user may do: asked before a control is shown. Everything, where the hub does not ask who somebody is. */
export const permits = signal<(operation: Operation, path: string) => boolean>(() => true);

/** Whether the user may assign a provider to some trackable, or to a new one. */
export function mayAssign(): boolean {
  return can('CREATE', '/trackables') || can('UPDATE', '/trackables/any');
}

/** Whether the user may do something with a path below the version, for example `can('CREATE', '/fences')`. */
export function can(operation: Operation, path: string): boolean {
  return permits.value(operation, path);
}

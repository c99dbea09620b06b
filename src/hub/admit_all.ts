import type { Authorization } from '../api/api.ts';
import type { Permit } from '../api/deps.ts';
import { ROUTES } from '../api/routes/routes.ts';
import { type Access, FULL_ACCESS } from '../auth/authorizer.ts';
import { hubError } from '../errors.ts';

/** Returns the access of a token to a route on everything. Rejects like Permit. */
export type AdmitAll = (...request: Parameters<Permit>) => Promise<Access>;

/** Returns the check of permissions for a route on everything, on behalf of another request. */
export function admitAllBy(authorization: Authorization | undefined): AdmitAll {
  return async (method, path, token) => {
    if (authorization === undefined) return FULL_ACCESS;
    const row = ROUTES.find((route) => route.method === method && route.path === path);
    const target = row && authorization.targets.of(row, { version: 'v2', versioned: true });
    if (target === undefined) throw new Error(`Cannot authorize ${method} ${path}: there is no such row`);
    const access = await authorization.admit(target, token);
    if (access.owned === undefined) return access;
    throw hubError('permitted_if_owned', { request: target.name });
  };
}

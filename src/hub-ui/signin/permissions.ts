import type { Operation } from '../hub/access.ts';

/** Permitted operation on an API path or a WebSocket topic, as listed by the hub for a token. */
export interface TokenPermission {
  readonly operation: Operation;
  /** Path with the version and parameter names: `/v2/zones/:zone_id`, `/v2/ws/socket/fence_events`. */
  readonly path: string;
  /** `ANY` for all entities, `OWN` for entities that the token's holder owns. */
  readonly reach: 'ANY' | 'OWN';
}

export interface TokenPermissions {
  readonly permissions: readonly TokenPermission[];
  /** Owned ids by their parameter names in paths. */
  readonly owned: Readonly<Record<string, readonly string[]>>;
}

export type PermissionCheck = (operation: Operation, path: string) => boolean;

/** Returns a function that checks an operation on an API path without the version. */
export function permissionCheckOf({ permissions, owned }: TokenPermissions): PermissionCheck {
  const patterns = permissions.map(({ path, ...rest }) => ({ ...rest, pattern: path.split('/').slice(1) }));
  return (operation, path) => {
    const segments = ['v2', ...path.split('/').slice(1)];
    return patterns.some(({ operation: other, pattern, reach }) => {
      if (other !== operation || pattern.length !== segments.length) return false;
      return pattern.every((name, i) => {
        const segment = segments[i] ?? '';
        if (!name.startsWith(':')) return name === segment;
        return reach === 'ANY' || isOwned(owned[name.slice(1)], segment);
      });
    });
  };
}

/** Whether an id is among the owned ids. The hub lists UUIDs in lower case. */
function isOwned(ids: readonly string[] = [], segment: string): boolean {
  const id = decodeURIComponent(segment);
  return ids.includes(id) || ids.includes(id.toLowerCase());
}

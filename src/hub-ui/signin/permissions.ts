import type { Operation } from '../hub/access.ts';

/** An operation on a path of the API or on a topic of the WebSocket, as the hub lists those that a token permits. */
export interface TokenPermission {
  readonly operation: Operation;
  /** With the version, and with names for ids: `/v2/zones/:zone_id`, `/v2/ws/socket/fence_events`. */
  readonly path: string;
  /** Everything, or what the holder of the token owns. */
  readonly reach: 'ANY' | 'OWN';
}

export interface TokenPermissions {
  readonly permissions: readonly TokenPermission[];
  /** Ids by their names in paths. */
  readonly owned: Readonly<Record<string, readonly string[]>>;
}

export type PermissionCheck = (operation: Operation, path: string) => boolean;

/** Whether an operation on a path below the version is permitted. */
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

/** The hub lists UUIDs in lower case. */
function isOwned(ids: readonly string[] = [], segment: string): boolean {
  const id = decodeURIComponent(segment);
  return ids.includes(id) || ids.includes(id.toLowerCase());
}

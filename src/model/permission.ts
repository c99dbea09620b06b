/** The vocabulary of permissions: what may be done, to what, and by whom. */

export const OPERATIONS = ['CREATE', 'READ', 'UPDATE', 'DELETE'] as const;
export type CrudOperation = (typeof OPERATIONS)[number];

/** Resources that can be owned, by the name of their id in paths. */
export const RESOURCES = ['zone_id', 'trackable_id', 'provider_id', 'fence_id', 'anchor_id', 'source_id'] as const;
export type Resource = (typeof RESOURCES)[number];

/** Kind of the entity that each resource identifies. */
export const KIND_OF_RESOURCE = {
  zone_id: 'zone',
  trackable_id: 'trackable',
  provider_id: 'provider',
  fence_id: 'fence',
  anchor_id: 'anchor',
  source_id: 'zone',
} as const satisfies Readonly<Record<Resource, string>>;

/** Scope of a permitted operation: everything, or what the holder of the token owns. */
export type Reach = 'ANY' | 'OWN';

/** Permissions of one role. */
export interface RoleRules {
  readonly role: string;
  readonly rules: readonly PathRule[];
}

export interface PathRule {
  /**
   * Path pattern as written: segments, optionally parameters such as `:zone_id`, optionally an asterisk as the last
   * segment. Without a version it means version 1 and unversioned paths.
   */
  readonly path: string;
  /** Location in the file: `permissions.yaml:3`. */
  readonly location: string;
  readonly reach: ReadonlyMap<CrudOperation, Reach>;
}

/** Segments of a path, which may have the prefixes that requests may have, and repeated slashes. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments[0] === 'hub' || segments[0] === 'deephub' ? segments.slice(1) : segments;
}

/**
 * Forms in which a permission may name a path that begins with its version. Rules from before version 2 name no version
 * and apply to version 1 only.
 */
export function withOlderForm(path: string): readonly string[] {
  return path.startsWith('/v1/') ? [path, path.slice('/v1'.length)] : [path];
}

/** Role of requests without a token; all others have it too. */
export const GUEST = 'guest';

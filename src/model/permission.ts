/** Operations that permissions permit. */

export const OPERATIONS = ['CREATE', 'READ', 'UPDATE', 'DELETE'] as const;
export type CrudOperation = (typeof OPERATIONS)[number];

/** Ownable resources, by the name of their id in paths. */
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

/** Scope of a permitted operation: all entities, or only those owned by the holder of the token. */
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

/** Returns the segments of a path, which may have the same prefixes as requests, and repeated slashes. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments[0] === 'hub' || segments[0] === 'deephub' ? segments.slice(1) : segments;
}

/**
 * Returns the forms in which a permission may contain a path that starts with a version. Rules from before version 2
 * contain no version and apply to version 1 only.
 */
export function withOlderForm(path: string): readonly string[] {
  return path.startsWith('/v1/') ? [path, path.slice('/v1'.length)] : [path];
}

/** Role of all requests, with or without a token. */
export const GUEST = 'guest';

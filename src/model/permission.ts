/** The vocabulary of permissions: what may be done, to what, and by whom. */

export const OPERATIONS = ['CREATE', 'READ', 'UPDATE', 'DELETE'] as const;
export type CrudOperation = (typeof OPERATIONS)[number];

/** What can be owned, by the name of its id in paths. */
export const RESOURCES = ['zone_id', 'trackable_id', 'provider_id', 'fence_id', 'anchor_id', 'source_id'] as const;
export type Resource = (typeof RESOURCES)[number];

/** Whether an operation is permitted on everything, or on what the holder of the token owns. */
export type Reach = 'ANY' | 'OWN';

/** What one role is permitted. */
export interface RoleRules {
  readonly role: string;
  readonly rules: readonly PathRule[];
}

export interface PathRule {
  /**
   * As written: segments, perhaps parameters such as `:zone_id`, perhaps an asterisk as the last one. Without a version
   * it means version 1, and what is served without a version.
   */
  readonly path: string;
  /** Where it is written: `permissions.yaml:3`. */
  readonly location: string;
  readonly reach: ReadonlyMap<CrudOperation, Reach>;
}

/** Segments of a path, which may be written with the prefixes that requests may have, and with more slashes. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments[0] === 'hub' || segments[0] === 'deephub' ? segments.slice(1) : segments;
}

/**
 * The forms in which a permission may name a path that begins with its version. What was written before there was a
 * second version names none, and reaches the first one alone.
 */
export function withOlderForm(path: string): readonly string[] {
  return path.startsWith('/v1/') ? [path, path.slice('/v1'.length)] : [path];
}

/** Role of those who have no token; everybody else has it too. */
export const GUEST = 'guest';

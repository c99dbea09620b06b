/** The vocabulary of permissions: what may be done, to what, and by whom. */

export const OPERATIONS = ['CREATE', 'READ', 'UPDATE', 'DELETE'] as const;
export type Operation = (typeof OPERATIONS)[number];

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
  /** As written: segments, perhaps parameters such as `:zone_id`, perhaps an asterisk as the last one. */
  readonly path: string;
  /** Where it is written: `permissions.yaml:3`. */
  readonly place: string;
  readonly reach: ReadonlyMap<Operation, Reach>;
}

/** Role of those who have no token; everybody else has it too. */
export const GUEST = 'guest';

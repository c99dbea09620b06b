import { isObject } from './json_tree.ts';

/** Property of an entity that is mirrored from another hub. */
export const MIRROR_PROPERTY = 'hub.mirror';

/** Value of MIRROR_PROPERTY. */
export interface MirrorMark {
  /** Id of the link. */
  readonly link: string;
  /** Id of the hub to which the entity belongs, and its id there. */
  readonly hub: string;
  readonly id: string;
}

/** The mark of an entity that is, or claims to be, mirrored; undefined for others. */
export function mirrorMark(entity: object): MirrorMark | undefined {
  const { properties } = entity as { readonly properties?: unknown };
  const mark = isObject(properties) ? properties[MIRROR_PROPERTY] : undefined;
  if (!isObject(mark)) return undefined;
  const { link, hub, id } = mark;
  if (typeof link !== 'string' || typeof hub !== 'string' || typeof id !== 'string') return undefined;
  return { link, hub, id };
}

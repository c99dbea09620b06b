import { transformationType } from '../core/zone/zone_type.ts';
import type { Kind } from '../entities/known.ts';
import type { Zone } from '../model/zone.ts';

/** The versions of the API share all entities. What differs between them is in this file. */
export type Version = 'v1' | 'v2';

/** The first segments of a path, before the version. */
export const PREFIXES: readonly string[] = ['', '/hub', '/deephub'];

const ROOTS_OF_V1 = PREFIXES.map((prefix) => `${prefix}/v1`);

/** How the types of errors are written. */
export interface ErrorTyping {
  readonly errorTypes: 'by_version' | 'plain' | 'vendor';
  /** `com.flowcate` in `com.flowcate.http.not_found`. */
  readonly errorTypePrefix: string;
}

/** The version that a request wants, whether or not there is such a path. */
export function versionOf(path: string): Version {
  return ROOTS_OF_V1.some((root) => path === root || path.startsWith(`${root}/`)) ? 'v1' : 'v2';
}

/** What the types of a version's errors begin with; undefined: they are plain words, as v1 has them. */
export function errorTypePrefixIn(version: Version, { errorTypes, errorTypePrefix }: ErrorTyping): string | undefined {
  const isPlain = errorTypes === 'plain' || (errorTypes === 'by_version' && version === 'v1');
  return isPlain ? undefined : errorTypePrefix;
}

/** v1 gives created entities an id of its own, but providers and anchors are known by the id that they report. */
export function replacesIds(version: Version, kind: Kind): boolean {
  return version === 'v1' && kind !== 'provider' && kind !== 'anchor';
}

/** How v1 and v2 name the providers of a trackable, and the reverse. */
export function relatedAs(version: Version): 'ids' | 'objects' {
  return version === 'v1' ? 'ids' : 'objects';
}

/** v1 says of a zone whether its coordinates need a transformation. */
export function zoneIn(version: Version, zone: Zone): Zone & { need_transformation?: boolean } {
  if (version !== 'v1') return zone;
  return { ...zone, need_transformation: transformationType(zone) !== 'none' };
}

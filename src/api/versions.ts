import { transformationType } from '../core/zone/zone_type.ts';
import type { EntityKindName } from '../entities/entity_lookup.ts';
import type { Zone } from '../model/zone.ts';

/** Versions of the API share all entities. This file contains their differences. */
export type Version = 'v1' | 'v2';

/** The first segments of a path, before the version. */
export const PREFIXES: readonly string[] = ['', '/hub', '/deephub'];

const ROOTS_OF_V1 = PREFIXES.map((prefix) => `${prefix}/v1`);

/** Form of error types. */
export interface ErrorTyping {
  readonly errorTypes: 'by_version' | 'plain' | 'vendor';
  /** `com.flowcate` in `com.flowcate.http.not_found`. */
  readonly errorTypePrefix: string;
}

/** The version of a request, whether or not its path exists. */
export function versionOf(path: string): Version {
  return ROOTS_OF_V1.some((root) => path === root || path.startsWith(`${root}/`)) ? 'v1' : 'v2';
}

/** Prefix of the error types of a version; undefined: plain words, as in v1. */
export function errorTypePrefixIn(version: Version, { errorTypes, errorTypePrefix }: ErrorTyping): string | undefined {
  const isPlain = errorTypes === 'plain' || (errorTypes === 'by_version' && version === 'v1');
  return isPlain ? undefined : errorTypePrefix;
}

/** v1 generates the ids of created entities, but providers and anchors have the id that they report. */
export function replacesIds(version: Version, kind: EntityKindName): boolean {
  return version === 'v1' && kind !== 'provider' && kind !== 'anchor';
}

/** Name of a trackable's list of providers in v1 and v2. */
export function relatedAs(version: Version): 'ids' | 'objects' {
  return version === 'v1' ? 'ids' : 'objects';
}

/** v1 reports whether a zone's coordinates need a transformation. */
export function zoneIn(version: Version, zone: Zone): Zone & { need_transformation?: boolean } {
  if (version !== 'v1') return zone;
  return { ...zone, need_transformation: transformationType(zone) !== 'none' };
}

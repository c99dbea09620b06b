import { idKey, isUnset } from '../model/id.ts';
import { replacedIn } from '../model/json_text.ts';
import { type ReferenceSource, namesOf, REFERENCE_PATHS, type ReferencePath } from './names.ts';
import type { Visibility } from './visibility.ts';
import { isObject } from '../model/json_tree.ts';

/** Paths to the value in a message, by its form: plain, Feature, FeatureCollection, or change. */
const AROUND = {
  plain: [],
  feature: ['properties'],
  collection: ['features', '*', 'properties'],
  change: ['object'],
} as const;

/**
 * Returns a function that redacts JSON: invisible ids are removed from lists and become null elsewhere, as do values
 * derived from them. Undefined if nothing needs redaction.
 */
export function redactor(
  visibility: Visibility | undefined,
  naming: ReferenceSource,
  form: keyof typeof AROUND,
): ((text: string) => string) | undefined {
  if (visibility === undefined) return undefined;
  const places = REFERENCE_PATHS[naming].filter(
    ({ of }) => of.length > 0 && !of.every((kind) => visibility.seesAll(kind)),
  );
  const hasFence = naming === 'fence_event' && form === 'collection';
  if (places.length === 0 && !hasFence) return undefined;
  const around = AROUND[form];
  return (text) => {
    const cut = places.reduce((left, place) => cutAt(place, { text: left, around, visibility }), text);
    return hasFence ? withoutPlace(cut, visibility) : cut;
  };
}

/**
 * Merges an update with the values hidden from the client, so that reading, changing and writing back an entity loses
 * nothing. A new value at the path of a hidden member replaces it.
 */
export function withHidden(naming: ReferenceSource, before: object, after: unknown, visibility: Visibility): unknown {
  if (!isObject(after)) return after;
  let whole: object = after;
  for (const place of REFERENCE_PATHS[naming]) {
    if (place.isOurs === true || place.of.length === 0) continue;
    const hidden = namesOf(place, before).flatMap(({ id }) => (visibility.sees(place.of, id) ? [] : [id]));
    if (hidden.length > 0) whole = withNames(whole, place, hidden);
    // As long as the hidden reference exists, the values derived from it are restored as well.
    if (namesOf(place, whole).some(({ id }) => isHidden(place, id, visibility))) {
      for (const path of place.hides ?? []) {
        const kept = memberAt(before, path);
        if (kept != null && memberAt(whole, path) == null) whole = withMember(whole, path, kept);
      }
    }
  }
  return whole;
}

interface Cutting {
  readonly text: string;
  readonly around: readonly string[];
  readonly visibility: Visibility;
}

function cutAt(place: ReferencePath, { text, around, visibility }: Cutting): string {
  const { path, of, hides = [] } = place;
  const isList = path.at(-1) === '*';
  const element = path.lastIndexOf('*');
  let hidden = false;
  const keeps = (id: unknown): boolean => {
    if (typeof id !== 'string' || isUnset(id)) return !isList;
    hidden ||= isHidden(place, id, visibility);
    return visibility.sees(of, id);
  };
  const at = [...around, ...(element < 0 ? path : path.slice(0, isList ? -1 : element + 1))];
  let cut = replacedIn(text, at, (found) => {
    const value: unknown = JSON.parse(found);
    if (isList) return Array.isArray(value) ? JSON.stringify(value.filter(keeps)) : found;
    if (element < 0) return keeps(value) ? found : 'null';
    // For an element of a list of objects, only its existence remains visible.
    const { id, object_type } = value as { readonly id?: unknown; readonly object_type?: unknown };
    return keeps(id) ? found : JSON.stringify({ id: '', object_type });
  });
  if (hidden) for (const gone of hides) cut = replacedIn(cut, [...around, ...gone], () => 'null');
  return cut;
}

/**
 * Whether a reference must be hidden, because its target is invisible or is a zone that follows an invisible object.
 */
function isHidden({ of }: ReferencePath, id: string, visibility: Visibility): boolean {
  return !visibility.sees(of, id) || (of.includes('zone_id') && !visibility.seesPlaceOf(id));
}

/** Hides a fence together with its zone and the geometry of its Feature. */
function withoutPlace(text: string, visibility: Visibility): string {
  let hidden = false;
  replacedIn(text, [...AROUND.collection, 'fence_id'], (found) => {
    hidden ||= !visibility.seesPlaceOfFence(String(JSON.parse(found)));
    return found;
  });
  return hidden ? replacedIn(text, ['features', '*', 'geometry'], () => 'null') : text;
}

function withNames(whole: object, { path }: ReferencePath, hidden: readonly string[]): object {
  if (path.at(-1) !== '*') return isUnset(memberAt(whole, path)) ? withMember(whole, path, hidden[0]) : whole;
  const list = memberAt(whole, path.slice(0, -1)) ?? [];
  if (!Array.isArray(list)) return whole;
  const named = new Set(list.map((id) => (typeof id === 'string' ? idKey(id) : id)));
  const missing = hidden.filter((id) => !named.has(idKey(id)));
  return missing.length === 0 ? whole : withMember(whole, path.slice(0, -1), [...list, ...missing]);
}

function memberAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return memberAt((value as Readonly<Record<string, unknown>>)[name], rest);
}

/**
 * Returns a copy with a member set. If the path contains a value that is not an object, returns the value unchanged,
 * which the validation of the entity then rejects.
 */
function withMember(value: unknown, [name, ...rest]: readonly string[], member: unknown): object {
  if (value != null && (typeof value !== 'object' || Array.isArray(value))) return value as object;
  const object = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (name === undefined) return object;
  return { ...object, [name]: rest.length === 0 ? member : withMember(object[name], rest, member) };
}

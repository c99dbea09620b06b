import { isObject, lookUp, parsePointer, pointerOf } from '../model/json_tree.ts';

/**
 * The paths of a map. The language is closed: a path selects one value and computes nothing.
 *
 *   path          | value
 *   --------------+--------------------------------------------------------------------------------------
 *   /a/b          | JSON Pointer (RFC 6901) from the item; an empty path is the item itself
 *   /a/[n=v]/b    | of an array, the first element whose member n is v, as a string
 *   $/a/b         | JSON Pointer from the payload
 *   2/a           | relative JSON Pointer: from the value two levels above the item
 *   0#            | name or index of the item in the value that contains it; 1# that of this value, and so on
 *   $topic/3      | level of the topic of an MQTT message, the first one is 0
 *   $sender       | address from which a datagram or a request has come
 *
 * The path of the items may have `*` as a segment: every element of an array, or every member of an object.
 */
export type SourcePath =
  | { readonly from: 'item' | 'payload'; readonly segments: readonly string[] }
  | { readonly from: 'above'; readonly levels: number; readonly segments: readonly string[] }
  | { readonly from: 'name'; readonly levels: number }
  | { readonly from: 'topic'; readonly level: number }
  | { readonly from: 'sender' };

/** An item of a payload, and all that its paths can select. */
export interface ItemContext {
  readonly payload: unknown;
  /** Segments of the path from the payload to the item. */
  readonly trail: readonly string[];
  readonly item: unknown;
  readonly topic?: string | undefined;
  readonly sender?: string | undefined;
}

const RELATIVE = /^(\d{1,2})(#$|(?=\/)|$)/;
const TOPIC = /^\$topic\/(\d{1,2})$/;

/** Parses a path; undefined if it is invalid. */
export function parsePath(text: string): SourcePath | undefined {
  if (text === '$sender') return { from: 'sender' };
  const topic = TOPIC.exec(text);
  if (topic !== null) return { from: 'topic', level: Number(topic[1]) };
  const relative = RELATIVE.exec(text);
  if (relative?.[2] === '#') return { from: 'name', levels: Number(relative[1]) };
  const start = relative?.[1] ?? (text.startsWith('$') ? '$' : '');
  const segments = parsePointer(text.slice(start.length));
  if (segments === undefined) return undefined;
  if (relative !== null) return { from: 'above', levels: Number(relative[1]), segments };
  return { from: start === '$' ? 'payload' : 'item', segments };
}

/** Returns the selected value; undefined if the payload does not have it. */
export function valueAt(path: SourcePath, { payload, trail, item, topic, sender }: ItemContext): unknown {
  switch (path.from) {
    case 'item':
      return follow(item, path.segments);
    case 'payload':
      return follow(payload, path.segments);
    case 'above':
      if (path.levels > trail.length) return undefined;
      return follow(payload, [...trail.slice(0, trail.length - path.levels), ...path.segments]);
    case 'name':
      return trail.at(-1 - path.levels);
    case 'topic':
      return topic?.split('/')[path.level];
    case 'sender':
      return sender;
  }
}

const PREDICATE = /^\[([^=\]]+)=([^\]]*)\]$/;

function follow(value: unknown, segments: readonly string[]): unknown {
  let found = value;
  for (const segment of segments) {
    const [, name, wanted] = segment.startsWith('[') ? (PREDICATE.exec(segment) ?? []) : [];
    found =
      name === undefined || !Array.isArray(found)
        ? lookUp(found, [segment])
        : found.find((each: unknown) => isObject(each) && Object.hasOwn(each, name) && String(each[name]) === wanted);
  }
  return found;
}

/** Returns the position of the selected value in the payload for messages, such as `$/tags/3/x`. */
export function placeOf(path: SourcePath, { trail }: Pick<ItemContext, 'trail'>): string {
  switch (path.from) {
    case 'item':
      return `$${pointerOf(...trail, ...path.segments)}`;
    case 'payload':
      return `$${pointerOf(...path.segments)}`;
    case 'above':
      return `$${pointerOf(...trail.slice(0, Math.max(0, trail.length - path.levels)), ...path.segments)}`;
    case 'name':
      return `${path.levels}#`;
    case 'topic':
      return `$topic/${path.level}`;
    case 'sender':
      return '$sender';
  }
}

/** An item, and the segments of its path. */
export interface FoundItem {
  readonly trail: readonly string[];
  readonly item: unknown;
}

/**
 * Returns the items at a path with wildcards, at most `limit` and one more. Returns the first path without a value as
 * `missing`.
 */
export function itemsAt(
  payload: unknown,
  segments: readonly string[],
  limit: number,
): { readonly items: readonly FoundItem[]; readonly missing?: readonly string[] } {
  let found: FoundItem[] = [{ trail: [], item: payload }];
  for (const segment of segments) {
    const next: FoundItem[] = [];
    for (const { trail, item } of found) {
      const names = segment === '*' ? namesIn(item) : [segment];
      for (const name of names ?? [segment]) {
        const member = segment === '*' && names === undefined ? undefined : follow(item, [name]);
        if (member === undefined) return { items: [], missing: [...trail, name] };
        next.push({ trail: [...trail, name], item: member });
        if (next.length > limit) return { items: next };
      }
    }
    found = next;
  }
  return { items: found };
}

function namesIn(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.keys(value);
}

import { hubError, HubError } from '../errors.ts';
import { badId, isId } from '../model/id.ts';
import { show } from '../model/error_value_text.ts';
import type { Method, ApiRoute } from './route.ts';
import { PREFIXES, type Version } from './versions.ts';

/** The routes of one path. */
export interface Match {
  readonly version: Version;
  /** Whether the path contains the version. */
  readonly versioned: boolean;
  /** Without trailing slashes. */
  readonly path: string;
  /** The path's parameter, decoded; empty if it has none. */
  readonly id: string;
  readonly methods: ReadonlyMap<Method, ApiRoute>;
}

interface Node {
  readonly fixed: Map<string, Node>;
  parameter: Node | undefined;
  readonly methods: Map<Method, ApiRoute>;
}

/** Finds the routes of a path. Fixed segments take precedence over parameters: /fences/summary is not a fence. */
export class ApiRouter {
  readonly #versions: Readonly<Record<Version, Node>> = { v1: node(), v2: node() };
  readonly #unversioned = node();
  /** Fast lookup of whole paths without parameter, such as those of bulk updates. */
  readonly #literal = new Map<string, Match>();

  constructor(routes: readonly ApiRoute[]) {
    for (const route of routes) {
      for (const version of route.versions) this.#add(this.#versions[version], route);
      if (route.unversioned) this.#add(this.#unversioned, route);
    }
    for (const { path, versions } of routes) {
      if (path.includes(':')) continue;
      for (const prefix of PREFIXES) for (const version of versions) this.#addLiteral(`${prefix}/${version}${path}`);
    }
  }

  /**
   * The routes of a path as received, percent-encoded; undefined for an unknown path. Throws HUB_BAD_REQUEST for one
   * with an invalid encoding, or a parameter with control characters.
   */
  find(path: string): Match | undefined {
    return this.#literal.get(path) ?? this.#walk(path);
  }

  #add(root: Node, route: ApiRoute): void {
    let at = root;
    for (const segment of route.path.split('/').slice(1)) at = step(at, segment);
    if (at.methods.has(route.method))
      throw new Error(`Cannot route ${route.method} ${route.path}: it is routed already`);
    at.methods.set(route.method, route);
  }

  #addLiteral(path: string): void {
    const match = this.#walk(path);
    if (match !== undefined) this.#literal.set(path, match);
  }

  #walk(received: string): Match | undefined {
    let end = received.length;
    while (end > 1 && received[end - 1] === '/') end--;
    const path = received.slice(0, end);
    const segments = path.split('/');
    const prefixed = segments[1] === 'hub' || segments[1] === 'deephub';
    const at = prefixed ? 2 : 1;
    const version = segments[at];
    if (version === 'v1' || version === 'v2')
      return found(this.#versions[version], segments, at + 1, { version, versioned: true, path });
    return found(this.#unversioned, segments, at, { version: 'v2', versioned: false, path });
  }
}

function node(): Node {
  return { fixed: new Map(), parameter: undefined, methods: new Map() };
}

function step(at: Node, segment: string): Node {
  if (segment.startsWith(':')) {
    at.parameter ??= node();
    return at.parameter;
  }
  let next = at.fixed.get(segment);
  if (next === undefined) {
    next = node();
    at.fixed.set(segment, next);
  }
  return next;
}

function found(
  root: Node,
  segments: readonly string[],
  start: number,
  { version, versioned, path }: Pick<Match, 'version' | 'versioned' | 'path'>,
): Match | undefined {
  const decoded = segments.slice(start).map((segment) => decode(segment, path));
  const hit = descend(root, decoded, 0);
  const id = hit?.id ?? '';
  if (!isId(id)) throw new HubError(badId('path', id));
  return hit && { version, versioned, path, id, methods: hit.at.methods };
}

/** If a fixed segment leads to no route, the parameter applies: a provider may be called "locations". */
function descend(at: Node, segments: readonly string[], i: number): { at: Node; id: string | undefined } | undefined {
  const segment = segments[i];
  if (segment === undefined) return at.methods.size === 0 ? undefined : { at, id: undefined };
  const fixed = at.fixed.get(segment);
  const hit = fixed && descend(fixed, segments, i + 1);
  if (hit !== undefined) return hit;
  if (at.parameter === undefined || segment === '') return undefined;
  const below = descend(at.parameter, segments, i + 1);
  return below && { at: below.at, id: segment };
}

/** Decoded once: an id with a percent sign is encoded twice by its sender. */
function decode(segment: string, path: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw hubError('not_percent_encoded', { path: 'path', found: show(path) }, { cause });
  }
}

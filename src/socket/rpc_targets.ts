import type { Target } from '../auth/policy.ts';
import { type RoleRules, segmentsOf, withOlderForm } from '../model/permission.ts';

/** Use of a method: calling it, or registering as its handler. */
export type RpcUse = 'call' | 'register';

/** Paths below a version: of the WebSocket, and of the REST endpoint whose children are methods. */
const SOCKET = '/ws/rpc';
const METHODS = '/rpc';
/** Child of the REST endpoint that is not a method. */
const AVAILABLE = 'available';

const VERSIONS = ['v1', 'v2'] as const;
const USES = ['call', 'register'] as const;

/**
 * Permission targets of remote procedure calls: using the WebSocket, and calling or handling a method.
 * `/v2/rpc/:method` stands for all methods. A method in a rule, as in `/v2/rpc/com.omlox.ping`, is a target of its own;
 * its name may be percent-encoded.
 */
export class RpcTargets {
  readonly all: readonly Target[];
  readonly #byKey: ReadonlyMap<string, Target>;

  constructor(roles: readonly RoleRules[]) {
    const written = roles.flatMap(({ rules }) => rules.flatMap(({ path }) => methodIn(path)));
    const named = [...Map.groupBy(written, ({ name }) => name)].map(([name, all]) => {
      return { name, segments: [...new Set(all.map(({ segment }) => segment))] };
    });
    this.#byKey = new Map(
      VERSIONS.flatMap((version) =>
        USES.flatMap((use) => [
          [keyOf(version, use), socketTarget(version, use)] as const,
          [keyOf(version, use, ':method'), methodTarget(version, use)] as const,
          ...named.map(
            (method) => [keyOf(version, use, `"${method.name}`), methodTarget(version, use, method)] as const,
          ),
        ]),
      ),
    );
    this.all = [...this.#byKey.values()];
  }

  /** Returns the target for using the WebSocket at a path. */
  ofSocket(path: string, use: RpcUse): Target {
    return this.#of(keyOf(versionOf(path), use));
  }

  /** Returns the target for using a method, by a request or on a connection at a path. */
  ofMethod(path: string, use: RpcUse, method: string): Target {
    const version = versionOf(path);
    return this.#byKey.get(keyOf(version, use, `"${method}`)) ?? this.#of(keyOf(version, use, ':method'));
  }

  #of(key: string): Target {
    const target = this.#byKey.get(key);
    if (target === undefined) throw new Error(`Cannot authorize ${key}: no permission means it`);
    return target;
  }
}

interface Method {
  readonly name: string;
  /** Path segments that rules use for the method. */
  readonly segments: readonly string[];
}

/** Returns the method in the path of a rule, if any. */
function methodIn(path: string): { readonly name: string; readonly segment: string }[] {
  const segments = segmentsOf(path);
  const [first, segment, ...more] = segments[0] === 'v1' || segments[0] === 'v2' ? segments.slice(1) : segments;
  if (first !== METHODS.slice(1) || segment === undefined || more.length > 0) return [];
  if (segment === '*' || segment === AVAILABLE || segment.startsWith(':')) return [];
  return [{ name: decoded(segment), segment }];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function versionOf(path: string): 'v1' | 'v2' {
  return path.includes('/v1/') ? 'v1' : 'v2';
}

function keyOf(version: string, use: RpcUse, method = ''): string {
  return `${version} ${use} ${method}`;
}

function socketTarget(version: string, use: RpcUse): Target {
  return {
    name: `${use === 'call' ? 'call' : 'handle'} methods on ${SOCKET} in ${version}`,
    ...operationOf(use),
    paths: withOlderForm(`/${version}${SOCKET}`),
  };
}

function methodTarget(version: string, use: RpcUse, method?: Method): Target {
  const what = method === undefined ? 'this method' : JSON.stringify(method.name);
  // The UI shows the first path.
  const own = method === undefined ? [] : [encodeURIComponent(method.name.toWellFormed()), ...method.segments];
  const segments = [...new Set([...own, ':method'])];
  return {
    name: `${use === 'call' ? 'call' : 'handle'} ${what} in ${version}`,
    ...operationOf(use),
    paths: segments.flatMap((segment) => withOlderForm(`/${version}${METHODS}/${segment}`)),
  };
}

function operationOf(use: RpcUse): Pick<Target, 'operations' | 'ownable'> {
  return { operations: [use === 'call' ? 'UPDATE' : 'CREATE'], ownable: false };
}

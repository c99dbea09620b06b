import type { Target } from '../auth/policy.ts';
import { type Resource, withOlderForm } from '../model/permission.ts';
import type { ApiRoute } from './route.ts';
import type { Match } from './router.ts';

/** The targets of one route, by how the path names the version. */
type OfRoute = Readonly<Partial<Record<'v1' | 'v2' | 'unversioned', Target>>>;

/** Permission targets of the REST API: each route, once per version that serves it. */
export class RouteTargets {
  /** In the order of the routes. */
  readonly all: readonly Target[];
  readonly #byRoute: ReadonlyMap<ApiRoute, OfRoute>;

  constructor(routes: readonly ApiRoute[]) {
    this.#byRoute = new Map(routes.map((route) => [route, targetsOf(route)]));
    this.all = [...this.#byRoute.values()].flatMap((targets) => Object.values(targets));
  }

  /** The targets that show the entity of a path, in each version. */
  readersOf(resource: Resource): readonly Target[] {
    const readers = [...this.#byRoute].filter(([{ method, path, permission }]) => {
      const isItem = path.split('/').length === 3 && path.endsWith(`/:${resource}`);
      return isItem && method === 'GET' && permission !== 'public';
    });
    return readers.flatMap(([, targets]) => Object.values(targets));
  }

  /** The target of a matched route; undefined for a public one. Throws an Error if a route has no target. hot */
  of(route: ApiRoute, { version, versioned }: Pick<Match, 'version' | 'versioned'>): Target | undefined {
    if (route.permission === 'public') return undefined;
    const target = this.#byRoute.get(route)?.[versioned ? version : 'unversioned'];
    if (target === undefined) throw new Error(`Cannot authorize ${route.method} ${route.path}: it has no target`);
    return target;
  }
}

/** A path without a version means version 1, and is the only target of an unversioned URL. */
function targetsOf({ method, path, permission, versions, unversioned }: ApiRoute): OfRoute {
  if (permission === 'public') return {};
  const common = { operations: [permission.operation], ownable: permission.resource !== undefined };
  const versioned = versions.map((version) => {
    const full = `/${version}${path}`;
    return [version, { ...common, name: `${method} ${full}`, paths: withOlderForm(full) }] as const;
  });
  const bare = unversioned ? { unversioned: { ...common, name: `${method} ${path}`, paths: [path] } } : {};
  return { ...Object.fromEntries(versioned), ...bare };
}

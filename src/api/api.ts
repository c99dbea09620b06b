import { bearerToken } from '../auth/authorizer.ts';
import type { Owned } from '../auth/owned.ts';
import { HubError } from '../errors.ts';
import type { HandleHttp, HttpReply, HttpRequest } from '../exchange.ts';
import { show } from '../model/show.ts';
import { checkKept, checkSize, parseBody, textOf } from './body.ts';
import { checkBodyOwned, checkPathOwned } from './ownership.ts';
import { parseQuery } from './query.ts';
import { Replies } from './replies.ts';
import type { ApiDeps, Method, Route } from './route.ts';
import { type Match, Router } from './router.ts';
import { ROUTES } from './routes/routes.ts';

/**
 * The REST API as one function from request to reply. A HubError becomes its reply; anything else that is thrown, or
 * rejected, is a fault of the hub and is left to the caller.
 */
export function createApi(hub: ApiDeps): HandleHttp {
  const router = new Router(ROUTES);
  const reply = new Replies(hub);
  const api = { hub, router, reply };
  return (request) => {
    try {
      const replied = answer(request, api);
      return replied instanceof Promise ? replied.catch((error: unknown) => refuse(error, reply)) : replied;
    } catch (error) {
      return refuse(error, reply);
    }
  };
}

interface Api {
  readonly hub: ApiDeps;
  readonly router: Router;
  readonly reply: Replies;
}

function answer(request: HttpRequest, api: Api): HttpReply | Promise<HttpReply> {
  const { hub, router, reply } = api;
  const { authorization } = hub;
  const match = router.find(request.path);
  if (match === undefined) throw new HubError('HUB_NOT_FOUND', `Cannot ${named(request)}: there is no such path`);
  if (request.method === 'OPTIONS') return reply.options(allowed(match));
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const route = match.methods.get(method as Method);
  if (route === undefined) return notAllowed(request, match, reply);
  const call = { match, route, request };
  const target = authorization?.targets.of(route, match);
  if (authorization === undefined || target === undefined) return run(call, undefined, api);
  const access = authorization.admit(target, bearerToken(request.header('authorization')));
  if (!(access instanceof Promise)) return run(call, access.owned, api);
  return access.then(({ owned }) => run(call, owned, api));
}

interface Found {
  readonly match: Match;
  readonly route: Route;
  readonly request: HttpRequest;
}

/** Reads a request that is let in, limited to what is owned unless that is undefined, and handles it. */
function run({ match, route, request }: Found, owned: Owned | undefined, { hub, reply }: Api) {
  const asked = owned && { match, owned };
  if (asked !== undefined) checkPathOwned(route, asked, hub);
  const { version, path, id } = match;
  const query = parseQuery(request.query, route.query);
  if (route.bodyMaxBytes !== undefined) checkSize(request.body, route.bodyMaxBytes);
  const body = route.body === undefined ? undefined : (route.text ? textOf : parseBody)(request.body, hub);
  if (!route.hot) checkKept(body, hub);
  if (asked !== undefined) checkBodyOwned(route, asked, body);
  try {
    return route.handle({ version, path, id, query, body, owned, reply }, hub);
  } catch (error) {
    // What overflowed the stack of a hot route was a body nested too deeply, if it was.
    if (error instanceof RangeError) checkKept(body, hub);
    throw error;
  }
}

function notAllowed(request: HttpRequest, match: Match, reply: Replies): HttpReply {
  const allow = allowed(match);
  const error = new HubError('HUB_METHOD_NOT_ALLOWED', `Cannot ${named(request)}: the path allows ${allow}`);
  return reply.error(error, { Allow: allow });
}

function allowed({ methods }: Match): string {
  const names: string[] = [...methods.keys()];
  if (methods.has('GET')) names.push('HEAD');
  return [...names, 'OPTIONS'].join(', ');
}

function refuse(error: unknown, reply: Replies): HttpReply {
  if (error instanceof HubError) return reply.error(error);
  throw error;
}

function named({ method, path }: HttpRequest): string {
  return `${method} ${show(path)}`;
}

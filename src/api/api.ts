import { hubError, HubError } from '../errors.ts';
import { type Access, bearerToken, FULL_ACCESS } from '../auth/authorizer.ts';
import type { Target } from '../auth/policy.ts';
import { Visibility } from '../auth/visibility.ts';
import {
  type AdmitBody,
  type HandleHttp,
  type HttpHead,
  type HttpReply,
  type HttpRequest,
  requestIdOf,
} from '../exchange.ts';
import type { Author } from '../model/audit.ts';
import { lend, look } from '../model/borrowed.ts';
import { show } from '../model/error_value_text.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { checkStorable, checkSize, LONG_BODY_BYTES, parseBody, parseExactBody, parseLongBody, textOf } from './body.ts';
import type { ApiDeps } from './deps.ts';
import { siteOf } from './naming.ts';
import { checkBodyOwned, checkPathOwned } from './ownership.ts';
import { parseQuery } from './query.ts';
import { ReplyFactory } from './replies.ts';
import type { Method, ApiRoute } from './route.ts';
import { type Match, ApiRouter } from './router.ts';
import { ROUTES } from './routes/routes.ts';
import type { RouteTargets } from './targets.ts';

/** Dependencies of the API with authorization. */
export interface GuardedApiDeps extends ApiDeps {
  /** Authorizes requests; default: everything is permitted. */
  readonly authorization?: Authorization;
}

export interface Authorization {
  /** Targets that the permission rules were matched with. */
  readonly targets: RouteTargets;
  /** See Authorizer. */
  admit(target: Target, token: string | undefined): Access | Promise<Access>;
}

/**
 * The REST API as a function from request to reply. A HubError becomes an error reply; any other exception is an
 * internal error and is left to the caller.
 */
export function createApi(hub: GuardedApiDeps): HandleHttp {
  const router = new ApiRouter(ROUTES);
  const reply = new ReplyFactory(hub);
  const { turns } = hub;
  const api = { hub, turns, router, reply };
  return (request) => {
    try {
      const replied = answer(request, api);
      return replied instanceof Promise ? replied.catch((error: unknown) => refuse(error, request, reply)) : replied;
    } catch (error) {
      return refuse(error, request, reply);
    }
  };
}

/** Maximum length in JSON of one byte of a string: that of an escape such as `\u0041`. */
const ESCAPE_BYTES = 6;
const NO_BODY = lend(new Uint8Array(0));

/**
 * Decides by the head of a request whether to read its large body: a request that needs a token must have a sufficient
 * one. A request of a route without a body is answered without reading it.
 */
export function admitBodies(hub: GuardedApiDeps): AdmitBody {
  const router = new ApiRouter(ROUTES);
  const reply = new ReplyFactory(hub);
  const handle = createApi(hub);
  const { authorization } = hub;
  const admit: AdmitBody = (head) => {
    const match = router.find(head.path);
    const route = match?.methods.get(head.method as Method);
    if (match === undefined || route?.body === undefined) {
      const { method, path, prefix = '', query } = head;
      return handle({ method, path, prefix, query, header: (name) => head.header(name), body: NO_BODY });
    }
    const target = authorization?.targets.of(route, match);
    if (authorization === undefined || target === undefined) return undefined;
    const access = authorization.admit(target, bearerToken(head.header('authorization')));
    return access instanceof Promise ? access.then(() => undefined) : undefined;
  };
  return (head) => {
    try {
      const refused = admit(head);
      return refused instanceof Promise ? refused.catch((error: unknown) => refuse(error, head, reply)) : refused;
    } catch (error) {
      return refuse(error, head, reply);
    }
  };
}

interface Api {
  readonly hub: GuardedApiDeps;
  readonly turns: TaskScheduler;
  readonly router: ApiRouter;
  readonly reply: ReplyFactory;
}

function answer(request: HttpRequest, api: Api): HttpReply | Promise<HttpReply> {
  const { hub, router, reply } = api;
  const { authorization } = hub;
  const match = router.find(request.path);
  if (match === undefined) throw hubError('unknown_path', { request: named(request) });
  if (request.method === 'OPTIONS') return reply.options(allowed(match));
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const route = match.methods.get(method as Method);
  if (route === undefined) return notAllowed(request, match, reply);
  const call = { match, route, request };
  const target = authorization?.targets.of(route, match);
  if (authorization === undefined || target === undefined) return run(call, FULL_ACCESS, api);
  const access = authorization.admit(target, bearerToken(request.header('authorization')));
  if (!(access instanceof Promise)) return run(call, access, api);
  return access.then((given) => run(call, given, api));
}

interface Found {
  readonly match: Match;
  readonly route: ApiRoute;
  readonly request: HttpRequest;
}

/** Parses an authorized request, limited to the scope of its access, and handles it. */
function run(found: Found, access: Access, { hub, turns, reply }: Api): HttpReply | Promise<HttpReply> {
  const { match, route, request } = found;
  const { owned, readable } = access;
  const limited = owned && { match, owned };
  if (limited !== undefined) checkPathOwned(route, limited, hub);
  const { version, id } = match;
  const path = `${request.prefix ?? ''}${match.path}`;
  const query = parseQuery(request.query, route.query, { isExact: route.exactQuery });
  if (route.bodyMaxBytes !== undefined) checkSize(look(request.body), route.bodyMaxBytes);
  const handle = (body: unknown): HttpReply | Promise<HttpReply> => {
    if (limited !== undefined) checkBodyOwned(route, limited, body);
    const visibility = readable && new Visibility(readable, siteOf(hub.entities));
    const token = bearerToken(request.header('authorization'));
    const by = () => authorOf(request, access.subject);
    return route.handle({ version, path, id, query, body, token, owned, visibility, by, reply, client: request }, hub);
  };
  if (route.body === undefined) return handle(undefined);
  if (route.text || route.unread) return handle(textOf(look(request.body)));
  const everywhere = route.exactNumbers === true;
  const takesBytes = limited === undefined && mayUseAnyZone(readable, hub);
  if (look(request.body).length > LONG_BODY_BYTES) {
    const { takeLong } = takesBytes ? route : {};
    // The lane is free once the body is handled, even if its reply is pending. The body stays in memory until the
    // reply.
    const read = async () => {
      const taken = await takeLong?.(look(request.body), { id, reply }, hub);
      if (taken !== undefined) return taken;
      const textMax = ESCAPE_BYTES * hub.entities.bounds.entityPropertiesBytes;
      const body = await parseLongBody(look(request.body), { ...hub, everywhere, textMax, turns });
      await turns.next();
      return { reply: handle(body) };
    };
    return turns.alone(read).then(({ reply }) => reply);
  }
  if (takesBytes && route.takeBytes !== undefined) {
    const replied = route.takeBytes(request.body, { id, reply }, hub);
    if (replied !== undefined) {
      request.dropBody?.();
      return replied;
    }
  }
  const body = everywhere ? parseExactBody(look(request.body), hub) : parseBody(look(request.body), hub);
  if (!route.hot) checkStorable(body, hub);
  try {
    return handle(body);
  } catch (error) {
    // A body nested too deeply can overflow the stack of a hot route.
    if (error instanceof RangeError) checkStorable(body, hub);
    throw error;
  }
}

/** Whether the call may use any zone, so that the body needs no check by admitSources. */
function mayUseAnyZone(readable: Access['readable'], { entities }: ApiDeps): boolean {
  return readable === undefined || !entities.hasMobileZones;
}

function notAllowed(request: HttpRequest, match: Match, reply: ReplyFactory): HttpReply {
  const allow = allowed(match);
  const error = hubError('method_not_allowed', { request: named(request), allowed: allow });
  return reply.error(error, request.path, { Allow: allow });
}

function allowed({ methods }: Match): string {
  const names: string[] = [...methods.keys()];
  if (methods.has('GET')) names.push('HEAD');
  return [...names, 'OPTIONS'].join(', ');
}

function refuse(error: unknown, { path }: HttpHead, reply: ReplyFactory): HttpReply {
  if (error instanceof HubError) return reply.error(error, path);
  throw error;
}

function named({ method, path }: HttpRequest): string {
  return `${method} ${show(path)}`;
}

/** Returns the author of the changes that a request makes. Call it before the request is answered. */
export function authorOf(
  request: Pick<HttpRequest, 'via' | 'address' | 'header'>,
  subject: string | undefined,
): Author {
  const requestId = requestIdOf(request);
  const from = addressText(request.address?.() ?? '');
  return {
    ...(subject !== undefined && { subject }),
    ...(from !== undefined && { address: from }),
    via: request.via ?? 'rest',
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** Returns an address, given as the hexadecimal digits of 4 or 8 bytes, in its usual form; undefined if it is unknown. */
function addressText(hex: string): string | undefined {
  if (hex.length === 8) return [...Buffer.from(hex, 'hex')].join('.');
  if (hex.length !== 16) return undefined;
  const groups = [0, 4, 8, 12].map((at) => Number.parseInt(hex.slice(at, at + 4), 16).toString(16));
  return `${groups.join(':')}::/64`;
}

import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { OwnedEntities } from '../auth/ownership.ts';
import type { Visibility } from '../auth/visibility.ts';
import type { HttpReply, HttpRequest } from '../exchange.ts';
import type { Author } from '../model/audit.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { CrudOperation, Resource } from '../model/permission.ts';
import type { ApiDeps } from './deps.ts';
import type { ReplyFactory } from './replies.ts';
import type { Version } from './versions.ts';

/** A parsed request of a route. */
export interface ApiCall<Parameters = unknown> {
  readonly version: Version;
  /** As requested, without trailing slashes. */
  readonly path: string;
  /** The path's parameter, decoded; empty if it has none. */
  readonly id: string;
  readonly query: Parameters;
  /** Parsed; undefined if the route has no body. */
  readonly body: unknown;
  /** The access token as sent, for permissions that depend on the body. */
  readonly token: string | undefined;
  /** Limits lists to these entities; undefined: no limit. */
  readonly owned: OwnedEntities | undefined;
  /** Entities that the body may reference, and the reply may contain; undefined: all. */
  readonly visibility: Visibility | undefined;
  readonly reply: ReplyFactory;
  /** Returns the author of changes. Call it before the request is answered. */
  by(): Author;
  /** Client of the request. */
  readonly client: Pick<HttpRequest, 'gone' | 'address' | 'prefix' | 'header'>;
}

/**
 * Required permission of a route. If a role permits it only for owned entities, `resource` is their kind, and `owned`
 * says where they are identified; without a resource such a permission does not suffice.
 */
export interface RoutePermission {
  readonly operation: CrudOperation;
  readonly resource?: Resource;
  /**
   * Default: the id in the path. `body`: the id of the entity in the body. `items`: the ids of all items in the body.
   * `reply`: all entities in the reply, which the handler limits to owned ones.
   */
  readonly owned?: 'body' | 'items' | 'reply';
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route of the API: metadata of an endpoint, and its handler. */
export interface ApiRoute {
  readonly method: Method;
  /** Relative to the version, for example `/fences/:fence_id`. */
  readonly path: string;
  readonly summary: string;
  readonly versions: readonly Version[];
  /** Whether it is also served without a version. */
  readonly unversioned: boolean;
  /** `public`: no permission is needed, since it contains no user data. */
  readonly permission: RoutePermission | 'public';
  readonly query: TObject;
  /** Whether unknown parameters are rejected instead of ignored. */
  readonly exactQuery: boolean;
  /** Schema of the body; its consumer checks it. Undefined: no body is read. */
  readonly body: TSchema | undefined;
  /** Called at a high rate: its body is not walked before it is handled. */
  readonly hot: boolean;
  /** Its body may be plain text, and is passed as a string. */
  readonly text: boolean;
  /** Its body is passed as a string: the handler parses it, and reports errors in its own way. */
  readonly unread: boolean;
  /**
   * Whether all numbers are exact, since the application data is not located yet; otherwise only those in properties
   * and sensors.
   */
  readonly exactNumbers: boolean;
  /** Maximum bytes of the body, regardless of the configuration; undefined: only the configuration limits it. */
  readonly bodyMaxBytes: number | undefined;
  /**
   * How the route uses ETags: `read` replies 304 if If-None-Match lists the ETag, `write` replies 412 if If-Match does not,
   * `create` only sends the ETag.
   */
  readonly etag: 'read' | 'write' | 'create' | undefined;
  /** Additional documentation. */
  readonly notes: Notes;
  readonly replies: Replied;
  /**
   * Handles the bytes of a short body directly, without limited access; returns undefined if they must be parsed and
   * handled.
   */
  readonly takeBytes: TakeBytes | undefined;
  /** The same for a long body, in parts. */
  readonly takeLong: TakeLong | undefined;
  handle(call: ApiCall, hub: ApiDeps): HttpReply | Promise<HttpReply>;
}

export type TakeBytes = (
  body: Borrowed,
  call: Pick<ApiCall, 'id' | 'reply'>,
  hub: ApiDeps,
) => HttpReply | Promise<HttpReply> | undefined;

/** The bytes do not change until it is done. */
export type TakeLong = (
  body: Uint8Array,
  call: Pick<ApiCall, 'id' | 'reply'>,
  hub: ApiDeps,
) => Promise<{ readonly reply: HttpReply | Promise<HttpReply> } | undefined>;

/** Status of a success, with its body. */
export type Replied = Readonly<Record<number, ApiReply>>;

export interface ApiReply {
  readonly description: string;
  readonly schema?: TSchema;
  /** Schema of a different body in v1. */
  readonly v1?: TSchema;
  /** Media type of the body; default: application/json. */
  readonly mediaType?: string;
  /** Headers with their meanings. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Additional documentation. Consequences of the rest of the route, such as 404 for an id in the path, are not repeated
 * here.
 */
export interface Notes {
  /** Sentences after the summary. */
  readonly description?: string;
  /** Meanings of path parameters that are not just ids. */
  readonly path?: Readonly<Record<string, string>>;
  /** Error statuses that do not follow from the route, with their meaning. */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** What every route has; the rest has defaults. */
type RequiredOfRoute = 'method' | 'path' | 'summary' | 'permission' | 'replies';

interface Row<Q extends TObject>
  extends Pick<ApiRoute, RequiredOfRoute>,
    Partial<Omit<ApiRoute, RequiredOfRoute | 'query' | 'handle'>> {
  readonly query?: Q;
  handle(call: ApiCall<Static<Q>>, hub: ApiDeps): HttpReply | Promise<HttpReply>;
}

const NO_QUERY = Type.Object({});
const BOTH: readonly Version[] = ['v1', 'v2'];

/** Creates a route: by default in both versions, without parameters and without body. */
export function route<Q extends TObject>(row: Row<Q>): ApiRoute {
  return {
    versions: BOTH,
    unversioned: false,
    query: NO_QUERY,
    exactQuery: false,
    body: undefined,
    hot: false,
    text: false,
    unread: false,
    exactNumbers: false,
    bodyMaxBytes: undefined,
    takeBytes: undefined,
    takeLong: undefined,
    etag: undefined,
    notes: {},
    ...row,
    handle: row.handle as ApiRoute['handle'],
  };
}

interface ValueRow<Q extends TObject>
  extends Omit<Row<Q>, 'method' | 'permission' | 'replies' | 'handle'>,
    Partial<Pick<ApiRoute, 'method' | 'permission'>> {
  /** Description and schema of the reply. */
  readonly returns: readonly [description: string, schema: TSchema];
  /** The value, or a promise of it. */
  value(call: ApiCall<Static<Q>>, hub: ApiDeps): unknown;
}

/** Creates a route that replies with a value as JSON; by default it is a GET and requires READ. */
export function valueRoute<Q extends TObject>({ returns, value, ...row }: ValueRow<Q>): ApiRoute {
  const [description, schema] = returns;
  return route<Q>({
    method: 'GET',
    permission: { operation: 'READ' },
    ...row,
    replies: { 200: { description, schema } },
    handle: async (call, hub) => call.reply.json(JSON.stringify(await value(call, hub))),
  });
}

import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Owned } from '../auth/owned.ts';
import type { Sight } from '../auth/sight.ts';
import type { HttpReply, HttpRequest } from '../exchange.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { CrudOperation, Resource } from '../model/permission.ts';
import type { ApiDeps } from './deps.ts';
import type { Replies } from './replies.ts';
import type { Version } from './versions.ts';

/** One request, matched to its route and read. */
export interface Call<Parameters = unknown> {
  readonly version: Version;
  /** As requested, without trailing slashes. */
  readonly path: string;
  /** The path's parameter, decoded; empty when it has none. */
  readonly id: string;
  readonly query: Parameters;
  /** Parsed; undefined when the route takes none. */
  readonly body: unknown;
  /** The access token, as it was sent, for what depends on the body as well. */
  readonly token: string | undefined;
  /** What a list is to be limited to; undefined: nothing. */
  readonly owned: Owned | undefined;
  /** What may be named in the body, and be in the reply; undefined: everything. */
  readonly sight: Sight | undefined;
  readonly reply: Replies;
  /** Who has sent the request. */
  readonly client: Pick<HttpRequest, 'gone' | 'address' | 'prefix'>;
}

/**
 * What a role needs to be permitted. Where it is permitted what the holder of the token owns alone, `resource` is the
 * kind of what has to be owned, and `owned` says where that is found; without a resource such a permission is not enough.
 */
export interface Permission {
  readonly operation: CrudOperation;
  readonly resource?: Resource;
  /**
   * Left out: the id in the path. `body`: the id of the entity in the body. `items`: the ids of all items in the body.
   * `reply`: whatever the reply lists, which the handler limits to what is owned.
   */
  readonly owned?: 'body' | 'items' | 'reply';
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of the API: everything that is known of an endpoint, and what it does. */
export interface Route {
  readonly method: Method;
  /** Relative to the version, for example `/fences/:fence_id`. */
  readonly path: string;
  readonly summary: string;
  readonly versions: readonly Version[];
  /** Whether it is also served without a version. */
  readonly unversioned: boolean;
  /** `public`: nothing is needed, since nothing in it is anybody's. */
  readonly permission: Permission | 'public';
  readonly query: TObject;
  /** Whether a parameter that is not in `query` is rejected; otherwise it is ignored. */
  readonly exactQuery: boolean;
  /** What the body is; checked by whoever takes it. Undefined: no body is read. */
  readonly body: TSchema | undefined;
  /** Taken at a high rate: its body is not walked before it is handed over. */
  readonly hot: boolean;
  /** Its body may be a plain text, and is handed over as one. */
  readonly text: boolean;
  /** Its body is handed over as a text: the handler reads it, and says in its own way what is wrong with it. */
  readonly unread: boolean;
  /**
   * Its numbers are handed over as they were sent, since it is not known yet which will be application data; otherwise
   * those in properties and sensors are.
   */
  readonly exactNumbers: boolean;
  /** A larger body is refused, whatever the configuration allows; undefined: that alone decides. */
  readonly bodyMaxBytes: number | undefined;
  /** What the documents say of it that the rest of the row does not. */
  readonly notes: Notes;
  readonly replies: Replied;
  /**
   * Takes the bytes of a short body as they are, from whoever may send anything; undefined where they are to be parsed and
   * handled.
   */
  readonly takeBytes: TakeBytes | undefined;
  /** The same for a long body, in turns. */
  readonly takeLong: TakeLong | undefined;
  handle(call: Call, hub: ApiDeps): HttpReply | Promise<HttpReply>;
}

export type TakeBytes = (
  body: Borrowed,
  call: Pick<Call, 'id' | 'reply'>,
  hub: ApiDeps,
) => HttpReply | Promise<HttpReply> | undefined;

/** The bytes stay as they are until it is done. */
export type TakeLong = (
  body: Uint8Array,
  call: Pick<Call, 'id' | 'reply'>,
  hub: ApiDeps,
) => Promise<{ readonly reply: HttpReply | Promise<HttpReply> } | undefined>;

/** Status of a success, with what its body is. */
export type Replied = Readonly<Record<number, Reply>>;

export interface Reply {
  readonly description: string;
  readonly schema?: TSchema;
  /** Where v1 answers something else. */
  readonly v1?: TSchema;
  /** Of the body; application/json when left out. */
  readonly mediaType?: string;
  /** Headers with their meanings. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** For the documents. What follows from the rest of the row, like 404 from an id in the path, is not repeated here. */
export interface Notes {
  /** Sentences beside the summary. */
  readonly description?: string;
  /** Meanings of the path's parameters, where they are not just ids. */
  readonly path?: Readonly<Record<string, string>>;
  /** Whether an unknown id in the path is no error. */
  readonly takesUnknownId?: boolean;
  /** Statuses of refusals that do not follow from the row, with their meaning. */
  readonly refusals?: Readonly<Record<number, string>>;
}

interface Row<Q extends TObject> {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly versions?: readonly Version[];
  readonly unversioned?: boolean;
  readonly permission: Permission | 'public';
  readonly query?: Q;
  readonly exactQuery?: boolean;
  readonly body?: TSchema;
  readonly hot?: boolean;
  readonly text?: boolean;
  readonly unread?: boolean;
  readonly exactNumbers?: boolean;
  readonly bodyMaxBytes?: number;
  readonly notes?: Notes;
  readonly replies: Replied;
  readonly takeBytes?: TakeBytes;
  readonly takeLong?: TakeLong;
  handle(call: Call<Static<Q>>, hub: ApiDeps): HttpReply | Promise<HttpReply>;
}

const NO_QUERY = Type.Object({});
const BOTH: readonly Version[] = ['v1', 'v2'];

/** A row: in both versions, without parameters and without body where it does not say otherwise. */
export function route<Q extends TObject>(row: Row<Q>): Route {
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
    notes: {},
    ...row,
    handle: row.handle as Route['handle'],
  };
}

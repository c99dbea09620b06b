import type { ApiRoute } from '../route.ts';

/** Error replies shared by routes: status, name in the documents, and an example. */
interface Refusal {
  readonly name: string;
  readonly description: string;
  /** Error type of the example, without its prefix. */
  readonly type: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  applies(route: ApiRoute): boolean;
}

const hasParameter = ({ path }: ApiRoute): boolean => path.includes(':');

export const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: {
    name: 'BadRequest',
    description: 'The body, a parameter or the path is invalid; the message names the field and the value found.',
    type: '.http.bad_request',
    message: 'position.coordinates[1]: must be <= 90, found 91',
    applies: (route) =>
      hasParameter(route) || route.body !== undefined || Object.keys(route.query.properties).length > 0,
  },
  401: {
    name: 'Unauthorized',
    description: 'The hub requires an access token, and the request has no valid one.',
    type: '.auth.authenticated',
    message: 'The access token is not valid: it has expired',
    headers: { 'WWW-Authenticate': 'Bearer: that is how a token is sent.' },
    applies: (route) => route.permission !== 'public',
  },
  403: {
    name: 'Forbidden',
    description: 'The access token does not permit this.',
    type: '.auth.permission',
    message: 'Cannot DELETE /v2/zones: the access token does not permit it',
    applies: (route) => route.permission !== 'public',
  },
  404: {
    name: 'NotFound',
    description: 'No entity has that id, or it has no such data.',
    type: '.http.not_found',
    message: 'Cannot find fence "dock": no fence has that id',
    applies: hasParameter,
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'The path does not support the method; Allow lists the supported ones.',
    type: '.http.method_not_allowed',
    message: 'Cannot PATCH "/hub/v2/providers/locations": the path allows GET, PUT, POST, DELETE, HEAD, OPTIONS',
    headers: { Allow: 'The methods of the path.' },
    applies: () => true,
  },
  412: {
    name: 'PreconditionFailed',
    description: 'If-Match does not list the current ETag: another request has changed what it names.',
    type: '.http.precondition_failed',
    message: 'Cannot replace zone "hall": If-Match must list its current ETag, found "b2XuVs0w1YAzVvVTKd5Yfg"',
    applies: ({ etag }) => etag === 'write',
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is larger than the setting client_max_body_size.',
    type: '.http.payload_too_large',
    message: 'body: must have at most 10240000 bytes, found 20480000',
    applies: (route) => route.body !== undefined,
  },
  415: {
    name: 'UnknownEncoding',
    description: 'The Content-Encoding is not identity. The hub accepts only uncompressed bodies.',
    type: '.http.bad_request',
    message: 'Content-Encoding: must be identity, found "gzip"',
    applies: (route) => route.body !== undefined,
  },
  429: {
    name: 'TooManyRequests',
    description: 'The address sends more requests than the setting max_requests_per_second allows.',
    type: '.http.unavailable',
    message: 'Cannot take the request: this address sends too many of them',
    headers: { 'Retry-After': 'Seconds to wait.' },
    applies: () => true,
  },
  431: {
    name: 'HeadersTooLarge',
    description: 'The headers are larger than the setting client_max_header_size.',
    type: '.http.payload_too_large',
    message: 'headers: must have at most 32768 bytes, found 40000',
    applies: () => true,
  },
  503: {
    name: 'Unavailable',
    description: 'The hub is overloaded, is shutting down, or cannot write. The request had no effect.',
    type: '.http.unavailable',
    message: 'Cannot take the request: the hub is shutting down',
    headers: { 'Retry-After': 'Seconds to wait.' },
    applies: () => true,
  },
};

/** Statuses of a route's error replies, with route-specific details. */
export function refusalsOf(route: ApiRoute): { readonly status: number; readonly special: string | undefined }[] {
  const special = route.notes.refusals ?? {};
  const shared = Object.entries(REFUSALS).flatMap(([status, { applies }]) => (applies(route) ? [Number(status)] : []));
  const statuses = new Set([...shared, ...Object.keys(special).map(Number)]);
  return [...statuses].sort((a, b) => a - b).map((status) => ({ status, special: special[status] }));
}

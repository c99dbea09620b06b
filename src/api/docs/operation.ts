import Type from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';
import { ErrorBody } from '../../model/error_body.ts';
import type { ApiRoute } from '../route.ts';
import type { Version } from '../versions.ts';
import { operationId, tagOf } from './names.ts';
import type { ParameterDocs } from './parameters.ts';
import { REFUSALS, refusalsOf } from './refusals.ts';
import { replySchema } from './schemas.ts';

const JSON_TYPE = 'application/json';
const ETAG = { ETag: 'Version of what is stored, for If-Match and If-None-Match.' };

/** Shared parts of the operations of one document. */
export interface Documenting {
  readonly version: Version;
  readonly components: Components;
  readonly parameters: ParameterDocs;
}

/** An operation of the OpenAPI document: parameters, body and replies of a route. */
export function operationOf(route: ApiRoute, documenting: Documenting): DocumentSchema {
  const parameters = documenting.parameters.of(route);
  const { description } = route.notes;
  return {
    operationId: operationId(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(description === undefined ? {} : { description }),
    ...(route.permission === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route, documenting) }),
    responses: { ...successesOf(route, documenting), ...notModified(route), ...refusals(route, documenting) },
  };
}

function bodyOf({ body, text }: ApiRoute, { components }: Documenting): DocumentSchema {
  const types = { [JSON_TYPE]: body, ...(text ? { 'text/plain': Type.String({ minLength: 1 }) } : {}) };
  const content = Object.entries(types).flatMap(([type, schema]) =>
    schema === undefined ? [] : [[type, { schema: components.show(schema) }]],
  );
  return { required: true, content: Object.fromEntries(content) };
}

function successesOf(route: ApiRoute, { version, components }: Documenting): DocumentSchema {
  const replies = Object.entries(route.replies).map(([status, reply]) => {
    const schema = replySchema(reply, version, route);
    const type = reply.mediaType ?? JSON_TYPE;
    const content = schema === undefined ? {} : { content: { [type]: { schema: components.show(schema) } } };
    const created = status === '201' ? { Location: 'Path of what was created.' } : {};
    const etag = route.etag !== undefined && route.method !== 'DELETE' ? ETAG : {};
    const headers = headersOf({ ...created, ...etag, ...reply.headers });
    return [status, { description: reply.description, ...headers, ...content }];
  });
  return Object.fromEntries(replies);
}

function notModified({ etag }: ApiRoute): DocumentSchema {
  if (etag !== 'read') return {};
  return { 304: { description: 'If-None-Match lists the ETag of the reply.', ...headersOf(ETAG) } };
}

function refusals(route: ApiRoute, { components }: Documenting): DocumentSchema {
  const shown = refusalsOf(route).map(({ status, special }) => {
    const shared = REFUSALS[status];
    const description = special === undefined ? {} : { description: special };
    if (shared !== undefined) return [status, { $ref: `#/components/responses/${shared.name}`, ...description }];
    return [status, { ...description, content: { [JSON_TYPE]: { schema: components.show(ErrorBody) } } }];
  });
  return Object.fromEntries(shown);
}

/** Response headers with their meanings. */
export function headersOf(headers: Readonly<Record<string, string>>): DocumentSchema {
  const entries = Object.entries(headers);
  if (entries.length === 0) return {};
  const shown = entries.map(([name, description]) => [name, { description, schema: { type: 'string' } }]);
  return { headers: Object.fromEntries(shown) };
}

import type { TSchema } from 'typebox';
import type { DefinedDocument, Documents } from '../../entities/documents.ts';
import { ArrayOf } from '../../model/schema.ts';
import type { ApiDeps } from '../deps.ts';
import { shownList } from '../list_body.ts';
import { type ApiRoute, route, valueRoute } from '../route.ts';

/** Documents of one kind that users define in the page, and the words of their endpoints. */
interface DocumentRows<T extends DefinedDocument> {
  readonly path: string;
  readonly idName: string;
  readonly schema: TSchema;
  /** Name of one document, such as `rule`. */
  readonly noun: string;
  readonly summaries: Readonly<Record<'list' | 'create' | 'get' | 'replace' | 'remove', string>>;
  /** Description of the reply to a deletion. */
  readonly removed: string;
  of(hub: ApiDeps): Documents<T>;
  /** The body of a new document, with members that the hub sets. */
  prepared?(body: unknown, hub: ApiDeps): unknown;
  /** Computed members of a document in replies. */
  added?(document: T, hub: ApiDeps): object;
  /** Members that only the reply to the creation has. */
  created?(document: T, hub: ApiDeps): Promise<object>;
}

/** The endpoints of documents: list, create, get, replace and delete, in that order. */
export function documentRows<T extends DefinedDocument>(rows: DocumentRows<T>): readonly ApiRoute[] {
  const { path, idName, schema, noun, summaries, removed, of, added, prepared, created } = rows;
  const shown = (document: T, hub: ApiDeps): object => ({ ...of(hub).shown(document), ...added?.(document, hub) });
  const one = `${path}/:${idName}`;
  const stored = `The stored ${noun}.`;
  return [
    route({
      method: 'GET',
      path,
      summary: summaries.list,
      permission: { operation: 'READ' },
      replies: { 200: { description: `The ${noun}s.`, schema: ArrayOf(schema) } },
      handle: ({ reply }, hub) =>
        reply.json(shownList(of(hub).list, (document) => JSON.stringify(shown(document, hub)))),
    }),
    route({
      method: 'POST',
      path,
      summary: summaries.create,
      permission: { operation: 'CREATE' },
      body: schema,
      replies: { 201: { description: stored, schema } },
      async handle({ body, path: requested, reply }, hub) {
        const document = await of(hub).create(prepared === undefined ? body : prepared(body, hub));
        const more = await created?.(document, hub);
        return reply.created(JSON.stringify({ ...shown(document, hub), ...more }), `${requested}/${document.id}`);
      },
    }),
    valueRoute({
      path: one,
      summary: summaries.get,
      returns: [`The ${noun}.`, schema],
      value: ({ id }, hub) => shown(of(hub).get(id), hub),
    }),
    valueRoute({
      method: 'PUT',
      path: one,
      summary: summaries.replace,
      permission: { operation: 'UPDATE' },
      body: schema,
      returns: [stored, schema],
      value: async ({ id, body }, hub) => shown(await of(hub).replace(id, body), hub),
    }),
    route({
      method: 'DELETE',
      path: one,
      summary: summaries.remove,
      permission: { operation: 'DELETE' },
      replies: { 204: { description: removed } },
      handle: ({ id, reply }, hub) =>
        of(hub)
          .remove(id)
          .then(() => reply.noContent),
    }),
  ];
}

import type { TSchema } from 'typebox';
import type { DefinedDocument, Documents } from '../../entities/documents.ts';
import { ArrayOf } from '../../model/schema.ts';
import type { HttpReply } from '../../exchange.ts';
import type { ApiDeps } from '../deps.ts';
import { unlessKnown, versionCheck, withETag } from '../etag.ts';
import { JsonPatch, patched } from '../json_patch.ts';
import { shownList } from '../list_body.ts';
import { type ApiCall, type ApiRoute, type Notes, route } from '../route.ts';

/** Documents of one kind that users define in the page, and the words of their endpoints. */
interface DocumentRows<T extends DefinedDocument> {
  readonly path: string;
  readonly idName: string;
  readonly schema: TSchema;
  /** Name of one document, such as `rule`. */
  readonly noun: string;
  /** Documents can be replaced only with a summary of `replace`, and changed by JSON Patch only with one of `patch`. */
  readonly summaries: Readonly<Record<'list' | 'create' | 'get' | 'remove', string>> & {
    readonly replace?: string;
    readonly patch?: string;
  };
  readonly notes?: { readonly create?: Notes };
  /** Description of the reply to a deletion. */
  readonly removed: string;
  of(hub: ApiDeps): Documents<T>;
  /** The body of a new document, with members that the hub sets. */
  prepared?(body: unknown, hub: ApiDeps): unknown;
  /** Computed members of a document in replies. */
  added?(document: T, hub: ApiDeps): object;
  /** Creates a document, in place of the default. `more` are members that only the reply to the creation has. */
  create?(call: ApiCall, hub: ApiDeps): Promise<{ readonly document: T; readonly more: object }>;
}

/** The endpoints of documents: list, create, get, replace, patch and delete, in that order. */
export function documentRows<T extends DefinedDocument>(rows: DocumentRows<T>): readonly ApiRoute[] {
  const { path, idName, schema, noun, summaries, removed, of, added, prepared, create, notes } = rows;
  const shown = (document: T, hub: ApiDeps): object => ({ ...of(hub).shown(document), ...added?.(document, hub) });
  // Without secrets: an ETag must not help to guess one.
  const version = (document: T, hub: ApiDeps): string => JSON.stringify(of(hub).shown(document));
  const forms = (document: T, hub: ApiDeps) => ({
    stored: version(document, hub),
    shown: JSON.stringify(shown(document, hub)),
  });
  const checkOf = (call: ApiCall, hub: ApiDeps, action: 'replace' | 'delete') =>
    versionCheck(call, { action, kind: of(hub).kind, id: call.id });
  const changed = async (call: ApiCall, hub: ApiDeps, revise: (before: T) => unknown): Promise<HttpReply> => {
    const check = checkOf(call, hub, 'replace');
    const document = await of(hub).change(
      call.id,
      (before) => {
        check(() => version(before, hub));
        return revise(before);
      },
      call.by(),
    );
    const given = forms(document, hub);
    return withETag(call.reply.json(given.shown), given);
  };
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
      etag: 'create',
      body: schema,
      replies: { 201: { description: stored, schema } },
      ...(notes?.create && { notes: notes.create }),
      async handle(call, hub) {
        const { body, path: requested, reply } = call;
        const { document, more } = (await create?.(call, hub)) ?? {
          document: await of(hub).create(prepared === undefined ? body : prepared(body, hub), call.by()),
          more: {},
        };
        const text = JSON.stringify({ ...shown(document, hub), ...more });
        const stored = version(document, hub);
        return withETag(reply.created(text, `${requested}/${document.id}`), { stored, shown: text });
      },
    }),
    route({
      method: 'GET',
      path: one,
      summary: summaries.get,
      permission: { operation: 'READ' },
      etag: 'read',
      replies: { 200: { description: `The ${noun}.`, schema } },
      handle: (call, hub) => unlessKnown(call, forms(of(hub).get(call.id), hub)),
    }),
    ...(summaries.replace === undefined
      ? []
      : [
          route({
            method: 'PUT',
            path: one,
            summary: summaries.replace,
            permission: { operation: 'UPDATE' },
            etag: 'write',
            body: schema,
            replies: { 200: { description: stored, schema } },
            handle: (call, hub) => changed(call, hub, () => call.body),
          }),
        ]),
    ...(summaries.patch === undefined
      ? []
      : [
          route({
            method: 'PATCH',
            path: one,
            summary: summaries.patch,
            permission: { operation: 'UPDATE' },
            etag: 'write',
            body: JsonPatch,
            replies: { 200: { description: stored, schema } },
            handle: (call, hub) => changed(call, hub, (before) => patched(of(hub).shown(before), call.body)),
          }),
        ]),
    route({
      method: 'DELETE',
      path: one,
      summary: summaries.remove,
      permission: { operation: 'DELETE' },
      etag: 'write',
      replies: { 204: { description: removed } },
      async handle(call, hub) {
        const check = checkOf(call, hub, 'delete');
        const admit = (before: T): void => check(() => version(before, hub));
        await of(hub).remove(call.id, { admit, by: call.by() });
        return call.reply.noContent;
      },
    }),
  ];
}

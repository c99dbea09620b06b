import Type from 'typebox';
import { EntityDocument, Import } from '../../model/import.ts';
import type { Permit } from '../deps.ts';
import { type ApiCall, type ApiRoute, route, valueRoute } from '../route.ts';
import { bodyObject } from '../../entities/body.ts';

const Order = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Whether to only report what the import would do.' })),
  delete_others: Type.Optional(
    Type.Boolean({
      description: 'Whether entities missing in the document are deleted, for kinds whose list it has.',
    }),
  ),
  delete_members: Type.Optional(
    Type.Boolean({
      description: 'Whether members are deleted that an entity of the document lacks, or has as null.',
    }),
  ),
});

/** Paths of the documents defined in the page. */
const DEFINED_PATHS: Readonly<Record<string, readonly [collection: string, item: string]>> = {
  alert_rules: ['/alerts/rules', '/alerts/rules/:rule_id'],
  views: ['/views', '/views/:view_id'],
  sinks: ['/sinks', '/sinks/:sink_id'],
  sources: ['/sources', '/sources/:data_source_id'],
};

type Document = Readonly<Record<string, unknown>>;

/** Paths of the entities of each list: the collection, and an item. */
const PATHS: Readonly<Record<string, readonly [collection: string, item: string]>> = {
  zones: ['/zones', '/zones/:zone_id'],
  fences: ['/fences', '/fences/:fence_id'],
  trackables: ['/trackables', '/trackables/:trackable_id'],
  providers: ['/providers', '/providers/:provider_id'],
  anchors: ['/anchors', '/anchors/:anchor_id'],
};

const RULES = '/trackables/rules/locating';

export const IMPORT_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'POST',
    path: '/import',
    summary: 'Import a document of entities, all of it or nothing',
    versions: ['v2'],
    permission: { operation: 'CREATE' },
    query: Order,
    body: EntityDocument,
    notes: {
      description:
        'An import merges: it creates the entities that the hub does not have, and changes of the others the members ' +
        'that the document has. `properties` merge by name. With `dry_run` GET lists the members that would change. ' +
        'The reply is immediate; GET returns the progress and the problems. There is one import at a time. ' +
        'It needs the permissions to read, create and replace any entity of the kinds in the document, and with ' +
        '`delete_others` to delete it.',
      refusals: { 503: 'Another import is running, or the hub is busy.' },
    },
    replies: { 202: { description: 'The started import.', schema: Import } },
    async handle(call, hub) {
      const document = bodyObject(call.body);
      await checkPermitted(document, call, hub.permit);
      const {
        dry_run: dryRun = false,
        delete_others: replace = false,
        delete_members: deleteMembers = false,
      } = call.query;
      const { reply } = call;
      return {
        ...reply.json(JSON.stringify(hub.imports.start(document, { dryRun, replace, deleteMembers, by: call.by() }))),
        status: 202,
      };
    },
  }),
  valueRoute({
    path: '/import',
    summary: 'The running import, or the last one since the start of the hub',
    versions: ['v2'],
    notes: { description: 'In a cluster: of the hub that replies.' },
    returns: ['The import.', Import],
    value: (_call, { imports }) => imports.current,
  }),
  route({
    method: 'DELETE',
    path: '/import',
    summary: 'Cancel the running import',
    versions: ['v2'],
    permission: { operation: 'DELETE' },
    notes: { refusals: { 400: 'It is being stored, and will be complete in a moment.' } },
    replies: { 204: { description: 'It is cancelled, and nothing is changed.' } },
    handle({ reply }, { imports }) {
      imports.cancel();
      return reply.noContent;
    },
  }),
];

/**
 * Rejects with HUB_NOT_AUTHORIZED if the token does not permit all possible effects of the import on any entity of its
 * kinds.
 */
async function checkPermitted(
  document: Document,
  { token, query }: Pick<ApiCall<{ readonly dry_run?: boolean; readonly delete_others?: boolean }>, 'token' | 'query'>,
  permit: Permit,
): Promise<void> {
  for (const [name, [collection, item]] of Object.entries({ ...PATHS, ...DEFINED_PATHS })) {
    if (document[name] === undefined) continue;
    await permit('GET', name in PATHS ? `${collection}/summary` : collection, token);
    if (query.dry_run === true) continue;
    await permit('POST', collection, token);
    await permit('PUT', item, token);
    if (query.delete_others === true) await permit('DELETE', item, token);
  }
  if (document['locating_rules'] === undefined) return;
  await permit('GET', RULES, token);
  if (query.dry_run !== true) await permit('PUT', RULES, token);
}

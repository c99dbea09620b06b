import { hubError } from '../../errors.ts';
import Type from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';
import { asyncApiDocument } from '../../socket/docs/async_api.ts';
import type { ApiDeps } from '../deps.ts';
import { pageFile } from '../docs/files.ts';
import { openApiDocument } from '../docs/open_api.ts';
import { openApi30 } from '../docs/open_api_3_0.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import type { Version } from '../versions.ts';

/** Documents generated from the routes, and pages to read and try the API. */
export function docsRoutes(routes: () => readonly ApiRoute[]): readonly ApiRoute[] {
  return [
    documentRow('/openapi.json', 'The REST API as an OpenAPI 3.1 document', (reader, hub) =>
      openApiDocument(routes(), { ...hub, ...reader }),
    ),
    documentRow('/openapi-3.0.json', 'The same as an OpenAPI 3.0 document', (reader, hub) =>
      openApi30(openApiDocument(routes(), { ...hub, ...reader })),
    ),
    documentRow(
      '/asyncapi.json',
      'The WebSocket API as an AsyncAPI 3.0 document, with MQTT where the hub has a broker',
      (reader, { versionInfo, describeMqtt }) => {
        const mqtt = describeMqtt && ((components: Components) => describeMqtt(components, reader));
        return asyncApiDocument(versionInfo.hub_version, reader, mqtt);
      },
    ),
    pageRow('/docs', 'Pages to read and try the API'),
    pageRow('/docs/:file', 'A file of the pages to read and try the API'),
  ];
}

const Document = Type.Object(
  {},
  { title: 'Document', description: 'A document of the API.', additionalProperties: true },
);

/** Inputs of a document. */
interface Reader {
  readonly version: Version;
  /** Path prefix as seen by the client. */
  readonly prefix: string;
  /** Whether the client has a valid token, or needs none: others do not see which servers the hub uses. */
  readonly isKnown: boolean;
}

type MakeDocument = (reader: Reader, hub: ApiDeps) => DocumentSchema;

/**
 * Maximum number of cached documents. Creating one takes some milliseconds. A hub usually has few prefixes, but a proxy
 * may send any number of them.
 */
const MADE_MAX = 16;

function documentRow(path: string, summary: string, make: MakeDocument): ApiRoute {
  const made = new WeakMap<ApiDeps, Map<string, string>>();
  return route({
    method: 'GET',
    path,
    summary,
    permission: 'public',
    replies: { 200: { description: 'The document.', schema: Document } },
    async handle({ version, token, client, reply }, hub) {
      const isKnown = hub.knows === undefined || (token !== undefined && (await hub.knows(token)));
      const reader = { version, prefix: client.prefix ?? '', isKnown };
      const texts = made.get(hub) ?? new Map<string, string>();
      made.set(hub, texts);
      const key = JSON.stringify(reader);
      const text = texts.get(key) ?? JSON.stringify(make(reader, hub));
      if (texts.size >= MADE_MAX) texts.clear();
      texts.set(key, text);
      return reply.json(text);
    },
  });
}

/** Served only without a version: the pages show both. */
function pageRow(path: string, summary: string): ApiRoute {
  return route({
    method: 'GET',
    path,
    summary,
    versions: [],
    unversioned: true,
    permission: 'public',
    replies: { 200: { description: 'The file.' } },
    async handle({ path, id, reply }: ApiCall) {
      const file = await pageFile(id || 'rest');
      if (file === undefined) throw hubError('no_file', { file: path });
      // Pages reference their files by absolute paths, since they are also served with a trailing slash.
      const base = id === '' ? path : path.slice(0, path.lastIndexOf('/'));
      return reply.file(file.mediaType, file.isPage ? file.text.replaceAll('{base}', base) : file.text);
    },
  });
}

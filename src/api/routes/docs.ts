import Type from 'typebox';
import { HubError } from '../../errors.ts';
import type { Shown } from '../../model/components.ts';
import { show } from '../../model/show.ts';
import { asyncApiDocument } from '../../socket/docs/async_api.ts';
import type { ApiDeps } from '../deps.ts';
import { pageFile } from '../docs/files.ts';
import { openApiDocument } from '../docs/open_api.ts';
import { openApi30 } from '../docs/open_api_3_0.ts';
import { type Call, type Route, route } from '../route.ts';
import type { Version } from '../versions.ts';

/** The documents of the API, made from its rows, and the pages to read and try it. */
export function docsRoutes(routes: () => readonly Route[]): readonly Route[] {
  return [
    documentRow('/openapi.json', 'The REST API as an OpenAPI 3.1 document', (version, hub) =>
      openApiDocument(routes(), { ...hub, version }),
    ),
    documentRow('/openapi-3.0.json', 'The same as an OpenAPI 3.0 document', (version, hub) =>
      openApi30(openApiDocument(routes(), { ...hub, version })),
    ),
    documentRow(
      '/asyncapi.json',
      'The WebSocket API as an AsyncAPI 3.0 document, with MQTT where the hub has a broker',
      (version, { versionInfo, describeMqtt }) => asyncApiDocument(version, versionInfo.hub_version, describeMqtt),
    ),
    pageRow('/docs', 'Pages to read and try the API'),
    pageRow('/docs/:file', 'A file of the pages to read and try the API'),
  ];
}

const Document = Type.Object(
  {},
  { title: 'Document', description: 'A document of the API.', additionalProperties: true },
);

type MakeDocument = (version: Version, hub: ApiDeps) => Shown;

function documentRow(path: string, summary: string, make: MakeDocument): Route {
  const made = new WeakMap<ApiDeps, Map<Version, string>>();
  return route({
    method: 'GET',
    path,
    summary,
    permission: 'public',
    replies: { 200: { description: 'The document.', schema: Document } },
    handle({ version, reply }, hub) {
      const texts = made.get(hub) ?? new Map<Version, string>();
      made.set(hub, texts);
      const text = texts.get(version) ?? JSON.stringify(make(version, hub));
      texts.set(version, text);
      return reply.json(text);
    },
  });
}

/** Served without a version alone: the pages show both. */
function pageRow(path: string, summary: string): Route {
  return route({
    method: 'GET',
    path,
    summary,
    versions: [],
    unversioned: true,
    permission: 'public',
    replies: { 200: { description: 'The file.' } },
    async handle({ path, id, reply }: Call) {
      const file = await pageFile(id || 'rest');
      if (file === undefined) throw new HubError('HUB_NOT_FOUND', `Cannot get ${show(path)}: there is no such file`);
      // Pages name their files by whole paths, since they are also served with a slash at the end.
      const base = id === '' ? path : path.slice(0, path.lastIndexOf('/'));
      return reply.file(file.mediaType, file.isPage ? file.text.replaceAll('{base}', base) : file.text);
    },
  });
}

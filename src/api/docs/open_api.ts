import { plainType } from '../../errors.ts';
import { Components, type DocumentSchema } from '../../model/components.ts';
import { ErrorBody } from '../../model/error_body.ts';
import { CollisionEvent, FenceEvent } from '../../model/events.ts';
import { CollisionForecast } from '../../model/forecast.ts';
import { WEBSOCKET_FRAMES } from '../../socket/docs/frames.ts';
import type { VersionInfo } from '../deps.ts';
import type { ApiRoute } from '../route.ts';
import { type ErrorTyping, errorTypePrefixIn, PREFIXES, type Version } from '../versions.ts';
import { describedTags } from './names.ts';
import { type Documenting, headersOf, operationOf } from './operation.ts';
import { ParameterDocs } from './parameters.ts';
import { REFUSALS } from './refusals.ts';
import { entitySchemas } from './schemas.ts';

export interface DocumentOptions extends ErrorTyping {
  readonly version: Version;
  /** Path prefix as seen by clients; none by default. */
  readonly prefix?: string;
  readonly versionInfo: VersionInfo;
}

const DESCRIPTION = `
Every path is served below each of the servers' prefixes, with and without a trailing slash.

- Bodies are parsed as JSON, regardless of Content-Type. Every optional member may also be null.
- Times are RFC 3339. Durations are in milliseconds, -1 is infinite. Lengths are in meters, angles in degrees.
- Coordinates are x, y and perhaps z: longitude, latitude and height in \`EPSG:4326\`, meters in any other crs.
- Boolean parameters are true when they are \`true\`, \`1\` or empty, false when they are \`false\` or \`0\`.
- Every error is an Error, whose code is the status of the reply.
- HEAD is served wherever GET is; OPTIONS names the methods of a path.
`.trim();

/** Messages of the WebSocket. They are included for generated clients; the AsyncAPI document describes them. */
const OF_SOCKET = [FenceEvent, CollisionEvent, CollisionForecast, ...WEBSOCKET_FRAMES];

/** Differences of v1; see versions.ts. */
const IN_V1 = `
- v1 gives a new zone, fence or trackable an id of its own, says of a zone whether it needs a transformation, and names
  the providers of a trackable, and the trackables of a provider, by their ids.
`.trimEnd();

/**
 * The OpenAPI 3.1 document of a version, generated from the routes. Throws an Error if two of them have the same name.
 */
export function openApiDocument(routes: readonly ApiRoute[], options: DocumentOptions): DocumentSchema {
  const { version, versionInfo, prefix = '' } = options;
  const components = new Components({ replacementOf: entitySchemas(version), forGenerators: true });
  const parameters = new ParameterDocs(components);
  const paths = pathsOf(
    routes.filter(({ versions }) => versions.includes(version)),
    { version, components, parameters },
  );
  for (const schema of OF_SOCKET) components.show(schema);
  return {
    openapi: '3.1.0',
    info: {
      title: `Location hub, ${version}`,
      version: versionInfo.hub_version,
      summary: `The REST API, compatible with the omlox Hub API ${versionInfo.api_version}`,
      description: version === 'v1' ? DESCRIPTION + IN_V1 : DESCRIPTION,
    },
    servers: PREFIXES.toSorted(hubFirst).map((root) => ({ url: `${prefix}${root}/${version}` })),
    security: [{ BearerAuth: [] }, {}],
    tags: describedTags(tagsOf(paths)),
    paths,
    components: {
      responses: responsesOf(components, options),
      schemas: components.schemas,
      parameters: parameters.named,
      securitySchemes: {
        BearerAuth: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the identity server, if the hub requires authorization.',
        },
      },
    },
  };
}

function pathsOf(routes: readonly ApiRoute[], documenting: Documenting): Readonly<Record<string, DocumentSchema>> {
  const paths: Record<string, Record<string, DocumentSchema>> = {};
  const ids = new Set<unknown>();
  for (const route of routes) {
    const operation = operationOf(route, documenting);
    const id = operation['operationId'];
    if (ids.has(id)) throw new Error(`Cannot document ${route.method} ${route.path}: ${id} is another operation's id`);
    ids.add(id);
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation;
  }
  return paths;
}

function responsesOf(components: Components, options: DocumentOptions): DocumentSchema {
  const prefix = errorTypePrefixIn(options.version, options);
  const schema = components.show(ErrorBody);
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, { name, description, type, message, headers = {} }]) => {
      const code = Number(status);
      const shown = message.replace('/v2/', `/${options.version}/`);
      const example = { type: prefix === undefined ? plainType(code) : prefix + type, code, message: shown };
      const content = { 'application/json': { schema, examples: { [name]: { value: example } } } };
      return [name, { description, ...headersOf(headers), content }];
    }),
  );
}

function tagsOf(paths: Readonly<Record<string, DocumentSchema>>): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as { tags: string[] }[]);
  return new Set(operations.flatMap(({ tags }) => tags));
}

function hubFirst(a: string, b: string): number {
  return Number(b === '/hub') - Number(a === '/hub');
}

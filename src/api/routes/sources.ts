import Type from 'typebox';
import { hubError } from '../../errors.ts';
import { checker } from '../../model/check.ts';
import { ArrayOf } from '../../model/schema.ts';
import {
  Source,
  SOURCE_PAYLOAD_BYTES_MAX,
  SourcePreset,
  SourcePreview,
  SourceSample,
  SourceStatus,
  SourceToken,
} from '../../model/source.ts';
import { type ApiRoute, route, valueRoute } from '../route.ts';
import { documentRows } from './document_rows.ts';

const sampleChecker = checker(SourceSample);
const ONE = '/sources/:data_source_id';

const SourceData = Type.Unknown({
  title: 'SourceData',
  description: 'A payload in the format of the source, whatever its Content-Type.',
});

/** The endpoints of sources. */
export const SOURCE_ROUTES: readonly ApiRoute[] = [
  ...documentRows<Source>({
    path: '/sources',
    idName: 'data_source_id',
    schema: Source,
    noun: 'source',
    summaries: {
      list: 'All sources of locations',
      create: 'Create a source of locations',
      get: 'One source',
      replace: 'Replace a source; a secret that is absent is retained',
      patch: 'Change a source by JSON Patch',
      remove: 'Delete a source',
    },
    removed: 'The source is deleted. The objects that it has reported remain.',
    of: ({ sources }) => sources.documents,
    async create({ body, by }, { sources }) {
      const author = by();
      const document = await sources.documents.create(body, author);
      return { document, more: document.kind === 'http' ? await sources.rotateToken(document.id, author) : {} };
    },
  }),
  valueRoute({
    path: '/sources/status',
    summary: 'Status of all sources',
    returns: ['The status of each source.', ArrayOf(SourceStatus)],
    value: (_call, { sources }) => sources.statuses(),
  }),
  valueRoute({
    path: `${ONE}/status`,
    summary: 'Status of a source',
    returns: ['The status.', SourceStatus],
    value: ({ id }, { sources }) => sources.status(id),
  }),
  valueRoute({
    path: '/sources/presets',
    summary: 'Sources for known systems, as templates',
    returns: ['The presets.', ArrayOf(SourcePreset)],
    value: async () => (await import('../../mapping/presets.ts')).PRESETS,
  }),
  valueRoute({
    method: 'POST',
    path: '/sources/preview',
    summary: 'Map a sample as a source would, without storing anything',
    // It reveals which zones exist, and changes nothing.
    permission: { operation: 'READ' },
    body: SourceSample,
    returns: ['The resulting locations, or the reason why the sample has no location.', SourcePreview],
    value({ body }, { sources }) {
      const { source, payload, topic, sender } = sampleChecker.parse(body);
      return sources.preview(source, { payload, topic: topic ?? undefined, sender: sender ?? undefined });
    },
  }),
  valueRoute({
    method: 'POST',
    path: `${ONE}/token`,
    summary: 'Replace the token of an http source',
    permission: { operation: 'UPDATE' },
    returns: ['The new token. Former ones are no longer valid.', SourceToken],
    value: ({ id, by }, { sources }) => sources.rotateToken(id, by()),
  }),
  route({
    method: 'POST',
    path: `${ONE}/data`,
    summary: 'Send a payload of an http source',
    // The handler checks the token of the source.
    permission: 'public',
    body: SourceData,
    unread: true,
    bodyMaxBytes: SOURCE_PAYLOAD_BYTES_MAX,
    notes: {
      description:
        'Requires the token of the source: `Authorization: Bearer <token>`, or as the password of HTTP Basic authentication.',
      refusals: {
        401: 'The token is missing or wrong.',
        413: 'The body is larger than 1 MiB, or than the setting client_max_body_size.',
        429: 'The source sends more than its rate_limit.',
        503: 'The source is disabled, or the hub is at capacity.',
      },
    },
    replies: { 204: { description: 'At least one item is accepted, or the payload has none.' } },
    handle({ id, body, client, reply }, { sources }) {
      if (typeof body !== 'string') throw hubError('empty_body', { path: 'body' });
      const token = tokenIn(client.header('authorization'));
      const waiting = sources.post(id, token, { content: body, sender: client.address?.() });
      return waiting === undefined ? reply.noContent : waiting.then(() => reply.noContent);
    },
  }),
];

/** Returns the token of a Bearer header, or the password of a Basic header. */
function tokenIn(header: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Basic) +([^ ]+) *$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme === '') return undefined;
  const decoded = Buffer.from(value, 'base64').toString();
  return decoded.slice(decoded.indexOf(':') + 1);
}

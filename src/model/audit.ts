import Type, { type Static } from 'typebox';
import { AnyType, ArrayOf, Named, OneOf, Time } from './schema.ts';

/** Kinds of audit entries: entities and documents by kind, reads and erasures of the history. */
export const AUDIT_KINDS = [
  ...['zone', 'fence', 'trackable', 'provider', 'anchor', 'locating_rules'],
  ...['alert', 'alert_rule', 'alert_snooze', 'api_key', 'link', 'sink', 'source', 'view', 'walk_test'],
  ...['read', 'erasure'],
] as const;

const VIAS = ['rest', 'mcp', 'demo', 'link'] as const;

/** Author of a change, and where the change comes from. */
export interface Author {
  readonly via: (typeof VIAS)[number];
  /** Subject of the access token; undefined without a token. */
  readonly subject?: string | undefined;
  /** IPv4 address of the client, or the first half of its IPv6 address, such as `2001:db8:0:1::/64`. */
  readonly address?: string | undefined;
  /** Header X-Request-Id of the request. */
  readonly request_id?: string | undefined;
}

export const AuditKind = OneOf(AUDIT_KINDS, {
  title: 'AuditKind',
  description: 'Kind of the changed entity or document; `read` or `erasure` for those of the history.',
});

const PatchOperation = Named('AuditPatchOperation', {
  // An enumeration would change the names that a generator makes for the one of JsonPatchOperation.
  op: Type.String({ description: 'Kind of the operation: add, remove or replace.' }),
  path: Type.String({ description: 'JSON Pointer (RFC 6901) to the changed member; empty for the whole.' }),
  value: Type.Optional(AnyType),
});

/** Query of a read of the history. */
const AuditRead = Named('AuditRead', {
  question: Type.String({ description: 'Kind of the query: places, tracks, snapshot, events, visits and so on.' }),
  ids: Type.Optional(
    Type.Array(Type.String(), { description: 'Ids to which the query is limited, at most 100; all if absent.' }),
  ),
  more_ids: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of further ids.' })),
  from: Type.Optional(Time('Start of the span.')),
  to: Type.Optional(Time('End of the span.')),
  bbox: Type.Optional(Type.Array(Type.Number(), { description: 'Area in degrees: west, south, east, north.' })),
  floor: Type.Optional(Type.Number({ description: 'Floor of the query.' })),
});
export type AuditRead = Static<typeof AuditRead>;

/** Rows of an erasure of the history. */
const AuditErasure = Named('AuditErasure', {
  of: Type.String({ description: 'Kind of the object: trackable or provider.' }),
  from: Type.Optional(Time('Start of the span; the oldest row if absent.')),
  to: Type.Optional(Time('End of the span, exclusive; the newest row if absent.')),
});

/** An entry of the audit log. */
export const AuditEntry = Named('AuditEntry', {
  cursor: Type.String({ description: 'A read after it continues with the next entry.' }),
  time: Time('Time of the change, the read or the erasure.'),
  kind: AuditKind,
  id: Type.String({
    description: 'Id of the changed entity, or of the read or erased object; empty for a read of several.',
  }),
  action: OneOf(['create', 'update', 'delete', 'read'], {
    title: 'AuditAction',
    description: 'Kind of the change; `read` for a read of the history.',
  }),
  subject: Type.Optional(Type.String({ description: 'Subject of the access token; absent without a token.' })),
  address: Type.Optional(
    Type.String({
      description:
        'IPv4 address of the client, or the first half of its IPv6 address, such as 2001:db8:0:1::/64. Behind a proxy, the address of the proxy.',
    }),
  ),
  via: OneOf(VIAS, {
    title: 'AuditVia',
    description: 'rest: the REST API. mcp: a tool of an agent. demo: the demo. link: a linked hub.',
  }),
  request_id: Type.Optional(Type.String({ description: 'Header X-Request-Id of the request; absent without one.' })),
  patch: Type.Optional(ArrayOf(PatchOperation)),
  read: Type.Optional(AuditRead),
  erasure: Type.Optional(AuditErasure),
});
export type AuditEntry = Static<typeof AuditEntry>;

/** Entries of the audit log after a cursor. */
export const AuditEntries = Named('AuditEntries', {
  entries: ArrayOf(AuditEntry),
  next: Type.String({ description: 'Cursor after the last entry that was examined, also if the filters exclude it.' }),
  has_more: Type.Boolean({ description: 'Whether the range has entries after next.' }),
});
export type AuditEntries = Static<typeof AuditEntries>;

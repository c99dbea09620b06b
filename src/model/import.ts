import Type, { type Static } from 'typebox';
import { AlertRule } from './alert.ts';
import { Anchor } from './anchor.ts';
import { MAYBE_REASON, REASON_MEMBERS } from './error_body.ts';
import { Fence } from './fence.ts';
import { LocationProvider } from './provider.ts';
import { RuleSet } from './rule.ts';
import { ArrayOf, Named, OneOf, Time } from './schema.ts';
import { Sink } from './sink.ts';
import { Source } from './source.ts';
import { Trackable } from './trackable.ts';
import { MapView } from './view.ts';
import { Zone } from './zone.ts';

const Timestamp = Time('RFC 3339 date and time.');

const pointers = Type.Optional(
  Type.Array(Type.String(), { description: 'JSON Pointers of members and properties: `/name`, `/properties/crew`.' }),
);

const MembersByKind = Named('EntityDocumentMembers', {
  anchors: pointers,
  zones: pointers,
  trackables: pointers,
  providers: pointers,
  fences: pointers,
});

/** All entities, or some, in one document. */
export const EntityDocument = Named('EntityDocument', {
  format: Type.String({ description: 'Always "location-hub-entities".' }),
  version: Type.Integer({ description: 'Always 1.' }),
  exported_at: Type.Optional(Timestamp),
  anchors: Type.Optional(ArrayOf(Anchor)),
  zones: Type.Optional(ArrayOf(Zone)),
  trackables: Type.Optional(ArrayOf(Trackable)),
  providers: Type.Optional(ArrayOf(LocationProvider)),
  fences: Type.Optional(ArrayOf(Fence)),
  locating_rules: Type.Optional(RuleSet),
  alert_rules: Type.Optional(ArrayOf(AlertRule)),
  views: Type.Optional(ArrayOf(MapView)),
  sinks: Type.Optional(ArrayOf(Sink)),
  sources: Type.Optional(ArrayOf(Source)),
  members: Type.Optional(MembersByKind),
});

const ImportState = OneOf(['idle', 'waiting', 'checking', 'keeping', 'done', 'refused', 'cancelled', 'failed'], {
  title: 'ImportState',
  description:
    'idle: no import since the start; waiting: for other changes; keeping: it is being written and cannot be ' +
    'cancelled any more; done: it is stored, or checked in a dry run; refused: the document is invalid. ' +
    'In every other final state nothing was changed.',
});
export type ImportState = Static<typeof ImportState>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const ImportCounts = Named('ImportCounts', {
  created: count('Entities that the hub does not have.'),
  changed: count('Entities with a member whose value differs from that in the hub.'),
  unchanged: count('Entities that change nothing.'),
  deleted: count('Entities of the hub missing from the document, if it replaces them.'),
});

const ImportProblem = Named('ImportProblem', {
  place: Type.String({ description: 'Path of the field in the document: `fences[3].region.coordinates[0]`.' }),
  message: Type.String({ description: 'Why the field is invalid, and the value found.' }),
  ...REASON_MEMBERS,
  id: Type.Optional(Type.String({ description: 'Id of the entity.' })),
});
export type ImportProblem = Static<typeof ImportProblem>;

const MemberList = OneOf(
  ['anchors', 'zones', 'trackables', 'providers', 'fences', 'alert_rules', 'views', 'sinks', 'sources'],
  {
    title: 'ImportList',
    description: 'A list of a document.',
  },
);

const MemberChange = Named('ImportMemberChange', {
  list: MemberList,
  id: Type.String({ description: 'Id of the entity.' }),
  path: Type.String({ description: 'JSON Pointer of the member, or of one property.' }),
  before: Type.Optional(Type.String({ description: 'Value in the hub as JSON, shortened to 80 characters.' })),
  after: Type.Optional(Type.String({ description: 'Value after the import, likewise; absent if it is deleted.' })),
});
export type ImportMemberChange = Static<typeof MemberChange>;

const ImportedRules = OneOf(['changed', 'unchanged'], {
  title: 'ImportedRules',
  description: 'Effect of an import on the locating rules.',
});

const CountsByKind = Named('ImportCountsByKind', {
  anchors: Type.Optional(ImportCounts),
  zones: Type.Optional(ImportCounts),
  trackables: Type.Optional(ImportCounts),
  providers: Type.Optional(ImportCounts),
  fences: Type.Optional(ImportCounts),
  alert_rules: Type.Optional(ImportCounts),
  views: Type.Optional(ImportCounts),
  sinks: Type.Optional(ImportCounts),
  sources: Type.Optional(ImportCounts),
});

/** An import, running or finished. */
export const Import = Named('Import', {
  state: ImportState,
  id: Type.Optional(Type.String({ description: 'Id of the import, unique.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Whether it only reports what it would do.' })),
  replace: Type.Optional(Type.Boolean({ description: 'Whether it deletes entities missing from the document.' })),
  delete_members: Type.Optional(
    Type.Boolean({ description: 'Whether it deletes members missing from entities of the document.' }),
  ),
  began_at: Type.Optional(Timestamp),
  ended_at: Type.Optional(Timestamp),
  total: Type.Optional(count('Entities in the document.')),
  checked: Type.Optional(count('Entities checked so far.')),
  counts: Type.Optional(CountsByKind),
  rules: Type.Optional(ImportedRules),
  member_change_count: Type.Optional(count('Members that change; in a dry run.')),
  member_changes: Type.Optional(ArrayOf(MemberChange)),
  missing_count: Type.Optional(
    count('Members of the hub missing from the document; deleted with delete_members. In a dry run.'),
  ),
  missing: Type.Optional(ArrayOf(MemberChange)),
  problem_count: Type.Optional(count('Number of invalid fields.')),
  problems: Type.Optional(ArrayOf(ImportProblem)),
  error: Type.Optional(Type.String({ description: 'Why it has failed.' })),
  ...MAYBE_REASON,
});
export type Import = Static<typeof Import>;

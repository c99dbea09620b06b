import type { StoredKind } from '../../core/entity_write.ts';
import {
  COUNT,
  FLAG,
  listOf,
  MessageError,
  malformed,
  packValue,
  rowOf,
  TEXT,
  tableOf,
  unpackList,
  type Valued,
} from '../messages/codec.ts';
import { ENTITY_KIND, MAP, OBJECT_MOVES, type ObjectMove, PARTITION } from './config_record.ts';
import { type ConfigState, mapFields, partitionMap, type Source } from './config_state.ts';
import { checkProtocol, PROTOCOLS } from './protocols.ts';

/** An entity as JSON. */
export interface EntityText {
  readonly kind: Exclude<StoredKind, 'setting'>;
  readonly id: string;
  readonly text: string;
}

/**
 * Encodes the state and all entities as messages of less than 4 MB: msgpack of `[version, 'state', …]`, and then of
 * `[version, 'texts', rows]`, settings first, each kind of entity in the order of creation. A text that is too long for one
 * row continues in the next. The version is that of the protocol. Readers reject a version that they do not support.
 */
export function snapshotParts(state: ConfigState, entities: Iterable<EntityText>): readonly Uint8Array[] {
  const version = state.protocol;
  const parts = [packValue([version, 'state', ...STATE_TABLE.write(fieldsOf(state))])];
  let rows: TextRow[] = [];
  let bytes = 0;
  for (const row of textRows(state.settings, entities)) {
    const size = ROW_BYTES + Buffer.byteLength(row[1]) + Buffer.byteLength(row[2]);
    if (bytes + size > TEXTS_BYTES_MAX && rows.length > 0) {
      parts.push(packValue([version, 'texts', rows]));
      rows = [];
      bytes = 0;
    }
    rows.push(row);
    bytes += size;
  }
  if (rows.length > 0) parts.push(packValue([version, 'texts', rows]));
  return parts;
}

/**
 * Restores the state from the messages of `snapshotParts`. Throws a MessageError that names the malformed message.
 * `supported`: versions of the protocol that this hub reads.
 */
export function restored(
  parts: readonly Uint8Array[],
  supported = PROTOCOLS,
): { readonly state: ConfigState; readonly entities: readonly EntityText[] } {
  const fields = stateFields(parts[0], supported);
  const settings = new Map<string, string>();
  const entities: EntityText[] = [];
  let begun: TextRow | undefined;
  for (const [place, part] of parts.entries()) {
    if (place === 0) continue;
    const what = whatOf(place);
    for (const [kind, id, piece, goesOn] of textsOf(part, { what, supported })) {
      if (begun !== undefined && (begun[0] !== kind || begun[1] !== id)) throw incomplete(what, begun);
      const text: string = (begun?.[2] ?? '') + piece;
      begun = goesOn ? [kind, id, text, true] : undefined;
      if (goesOn) continue;
      if (kind === 'setting') settings.set(id, text);
      else entities.push({ kind, id, text });
    }
  }
  if (begun !== undefined) throw incomplete(whatOf(parts.length - 1), begun);
  return { state: { ...stateOf(fields), settings }, entities };
}

/** Size of the rows of a message, which has some bytes more. */
const TEXTS_BYTES_MAX = 3_900_000;
/** Most bytes of a row without its strings. */
const ROW_BYTES = 24;
/** Characters of a piece, which may be three bytes each. */
const PIECE_MAX = 1_000_000;

type MemberRow = readonly [
  incarnation: string,
  name: string,
  protocols: readonly number[],
  digest: string,
  index: number,
];
type DeadRow = readonly [incarnation: string, removed: number];
type SourceRow = readonly [of: string, released: number, partitions: readonly number[]];
type RegroupedRow = readonly [sequence: number, objects: readonly ObjectMove[]];
type TextRow = readonly [kind: StoredKind, id: string, piece: string, goesOn: boolean];

const STATE = {
  protocol: COUNT,
  joined: listOf(rowOf<MemberRow>(TEXT, TEXT, listOf(COUNT), TEXT, COUNT)),
  dead: listOf(rowOf<DeadRow>(TEXT, COUNT)),
  ...MAP,
  sources: listOf(rowOf<SourceRow>(TEXT, COUNT, listOf(PARTITION))),
  migrating: listOf(rowOf<RegroupedRow>(COUNT, OBJECT_MOVES)),
  version: COUNT,
} as const;
const STATE_TABLE = tableOf(STATE);
const TEXTS = listOf(rowOf<TextRow>(ENTITY_KIND, TEXT, TEXT, FLAG));

function* textRows(settings: ReadonlyMap<string, string>, entities: Iterable<EntityText>): Generator<TextRow> {
  for (const [name, text] of settings) yield* pieces('setting', name, text);
  for (const { kind, id, text } of entities) yield* pieces(kind, id, text);
}

function* pieces(kind: StoredKind, id: string, text: string): Generator<TextRow> {
  let start = 0;
  while (text.length - start > PIECE_MAX) {
    const end = start + PIECE_MAX;
    // A surrogate pair stays in one piece.
    const cut = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield [kind, id, text.slice(start, cut), true];
    start = cut;
  }
  yield [kind, id, text.slice(start), false];
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

type StateFields = Valued<typeof STATE>;

function fieldsOf({ members, dead, protocol, map, sources, migrating, version }: ConfigState): StateFields {
  return {
    protocol,
    joined: [...members.values()].map(({ incarnation, name, protocols, digest, index }) => {
      return [incarnation, name, protocols, digest, index];
    }),
    dead: [...dead.values()].map(({ incarnation, removed }) => [incarnation, removed]),
    ...mapFields(map),
    sources: sources.map(({ of, released, partitions }) => [of, released, partitions]),
    migrating: migrating.map((each) => [each.sequence, each.objects]),
    version,
  };
}

function stateOf(fields: StateFields): Omit<ConfigState, 'settings'> {
  const { joined, dead, sources, migrating, version } = fields;
  const members = joined.map(([incarnation, name, protocols, digest, index]) => {
    return { incarnation, name, protocols, digest, index };
  });
  return {
    members: new Map(members.map((member) => [member.incarnation, member])),
    map: partitionMap(fields),
    dead: new Map(dead.map(([incarnation, removed]) => [incarnation, { incarnation, removed }])),
    sources: sources.map(([of, released, partitions]): Source => ({ of, released, partitions })),
    migrating: migrating.map(([sequence, objects]) => ({ sequence, objects })),
    protocol: fields.protocol,
    version,
  };
}

function stateFields(part: Uint8Array | undefined, supported: readonly number[]): StateFields {
  const what = whatOf(0);
  if (part === undefined) throw new MessageError(`${what}: it is missing`);
  return STATE_TABLE.checked(what, contentOf(part, 'state', { what, supported }));
}

function textsOf(part: Uint8Array, reading: Reading): readonly TextRow[] {
  const [rows] = contentOf(part, 'texts', reading);
  if (!TEXTS.fits(rows)) throw malformed(reading.what, 'rows', rows, TEXTS.what);
  return rows as readonly TextRow[];
}

interface Reading {
  readonly what: string;
  readonly supported: readonly number[];
}

/** Values after version and kind. */
function contentOf(part: Uint8Array, wanted: 'state' | 'texts', { what, supported }: Reading): readonly unknown[] {
  const [version, kind, ...values] = unpackList(what, part);
  checkProtocol(what, version, supported);
  if (kind !== wanted) throw malformed(what, 'kind', kind, wanted);
  return values;
}

function whatOf(place: number): string {
  return `Cannot read message ${place + 1} of the configuration's snapshot`;
}

function incomplete(what: string, [kind, id]: TextRow): MessageError {
  return new MessageError(`${what}: the JSON of ${kind} ${JSON.stringify(id)} is incomplete`);
}

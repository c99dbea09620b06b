import type { EntityKind } from '../core/kept.ts';
import { lend } from '../model/borrowed.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import { type ConfigBody, type ConfigRecord, ENTITY_KIND, MAP } from './config_record.ts';
import {
  COUNT,
  ConfigRecordError,
  check,
  FLAG,
  listOf,
  misfit,
  PARTITION,
  packed,
  rowOf,
  TEXT,
  unpacked,
  type Valued,
} from './config_shapes.ts';
import type { PartitionMap } from './map.ts';

/**
 * What all hubs know from the records of the configuration log, besides entities. It follows from the records alone, so at
 * the same record it is the same everywhere.
 *
 *   record          what changes
 *   --------------  ----------------------------------------------------------------------------------------------
 *   change          settings
 *   join            the member is the last of all
 *   map             the map, unless it was made without knowing the last one: its epoch must be higher
 *   expel, leave    the member is dead, with the partitions that it owned before; the map, as above
 *   took            what was taken is left to the dead one no more: partitions that the taker owns by the map
 *   took (nothing)  a dead one with nothing left is forgotten
 *   protocol        the version that everybody writes
 *
 * The journal of a dead member is read by whoever owns its partitions now. What was taken by somebody who owned it no more
 * when the record came is not taken: its owner is still reading. When nothing is left, or a member has owned nothing, the
 * streams of its journal are to be deleted: nobody reads them any more. Whoever has deleted them takes nothing of the dead
 * one, in a record, and with that it is forgotten. So a hub that dies between the two leaves no stream behind.
 *
 * A taker that dies before it has taken is dead with the same partitions. Its heir reads its journal and those that it was
 * to read.
 */
export interface ConfigState {
  /** JSON texts by name. */
  readonly settings: ReadonlyMap<string, string>;
  /** By incarnation, in the order of their joins. */
  readonly members: ReadonlyMap<string, ConfigMember>;
  readonly map: PartitionMap | undefined;
  /** By incarnation, in the order of their ends. */
  readonly dead: ReadonlyMap<string, DeadMember>;
  /** The version that everybody writes. */
  readonly protocol: number;
}

export interface ConfigMember {
  readonly incarnation: string;
  readonly name: string;
  /** The versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** Of the settings that must be equal. */
  readonly digest: string;
  /** The sequence of its `join`. */
  readonly index: number;
}

/** A member that was expelled, or has left. */
export interface DeadMember extends Pick<ConfigMember, 'incarnation' | 'index'> {
  /** Partitions that nobody has taken over from it yet, in ascending order. */
  readonly left: readonly number[];
}

/** Partitions of a dead member that one member is to take over. */
export interface TakeOver {
  readonly of: DeadMember;
  readonly by: string;
  readonly partitions: readonly number[];
}

export const EMPTY_STATE: ConfigState = {
  settings: new Map(),
  members: new Map(),
  map: undefined,
  dead: new Map(),
  protocol: 1,
};

/** The state after a record. Throws a ConfigRecordError where the record contradicts itself. */
export function applied(state: ConfigState, { sequence, body }: ConfigRecord): ConfigState {
  switch (body.kind) {
    case 'change':
      return onChange(state, body);
    case 'ensure':
      return state;
    case 'join':
      return onJoin(state, body, sequence);
    case 'map':
      return mapped(state, body);
    case 'expel':
    case 'leave':
      return mapped(onEnd(state, body.incarnation), body);
    case 'took':
      return onTook(state, body);
    case 'protocol':
      return { ...state, protocol: body.version };
  }
}

/** What is still to be taken over, and by whom. What has no owner among the members waits for a map. */
export function takeOvers({ members, map, dead }: ConfigState): readonly TakeOver[] {
  return [...dead.values()].flatMap((of) => {
    const byOwner = Map.groupBy(of.left, (partition) => map?.owners[partition] ?? NOBODY);
    return [...byOwner].filter(([by]) => members.has(by)).map(([by, partitions]) => ({ of, by, partitions }));
  });
}

/** The dead members whose journals nobody reads any more. Their streams are to be deleted, and they are to be forgotten. */
export function toDelete({ dead }: ConfigState): readonly DeadMember[] {
  return [...dead.values()].filter(({ left }) => left.length === 0);
}

/** Who owns what, as records say it. Without a map nobody owns anything. */
export type MapFields = Valued<typeof MAP>;

export function mapFields(map: PartitionMap | undefined): MapFields {
  const { epoch, owners, collisions } = map ?? NO_MAP;
  const members = [...new Set([...owners, collisions])].filter((owner) => owner !== NOBODY);
  const places = new Map(members.map((member, place) => [member, place]));
  const placeOf = (owner: string): number => places.get(owner) ?? -1;
  return { epoch, members, owners: owners.map(placeOf), collisionOwner: placeOf(collisions) };
}

/** The map that a record has; undefined for none. Throws a ConfigRecordError where an owner is none of its members. */
export function partitionMap({ epoch, members, owners, collisionOwner }: MapFields): PartitionMap | undefined {
  if (epoch === NO_MAP.epoch) return undefined;
  const ownerAt = (place: number, field: string): string => {
    const owner = place === -1 ? NOBODY : members[place];
    if (owner === undefined) throw misfit('Cannot read a partition map', field, place, `-1 or below ${members.length}`);
    return owner;
  };
  return {
    epoch,
    owners: owners.map((place, partition) => ownerAt(place, `owners[${partition}]`)),
    collisions: ownerAt(collisionOwner, 'collisionOwner'),
  };
}

const NOBODY = '';
const NO_MAP: PartitionMap = { epoch: 0, owners: new Array<string>(PARTITIONS).fill(NOBODY), collisions: NOBODY };

function onChange(state: ConfigState, { changes }: ConfigBody<'change'>): ConfigState {
  const changed = changes.filter(([kind]) => kind === 'setting');
  if (changed.length === 0) return state;
  const settings = new Map(state.settings);
  for (const [, name, text] of changed) {
    if (text === null) settings.delete(name);
    else settings.set(name, text);
  }
  return { ...state, settings };
}

function onJoin(state: ConfigState, { kind: _join, ...joined }: ConfigBody<'join'>, index: number): ConfigState {
  if (state.members.has(joined.incarnation)) return state;
  return { ...state, members: new Map(state.members).set(joined.incarnation, { ...joined, index }) };
}

function onEnd(state: ConfigState, incarnation: string): ConfigState {
  const member = state.members.get(incarnation);
  if (member === undefined) return state;
  const members = new Map(state.members);
  members.delete(incarnation);
  const { index } = member;
  const left = partitionsOf(state.map, incarnation);
  return { ...state, members, dead: new Map(state.dead).set(incarnation, { incarnation, index, left }) };
}

function mapped(state: ConfigState, fields: MapFields): ConfigState {
  const map = partitionMap(fields);
  return map === undefined || map.epoch <= (state.map?.epoch ?? 0) ? state : { ...state, map };
}

function onTook(state: ConfigState, { by, of, partitions }: ConfigBody<'took'>): ConfigState {
  const member = state.dead.get(of);
  if (member === undefined) return state;
  const dead = new Map(state.dead);
  if (partitions.length === 0) {
    if (member.left.length > 0) return state;
    dead.delete(of);
    return { ...state, dead };
  }
  if (!state.members.has(by)) return state;
  const taken = new Set(partitions.filter((partition) => state.map?.owners[partition] === by));
  return { ...state, dead: dead.set(of, { ...member, left: member.left.filter((each) => !taken.has(each)) }) };
}

function partitionsOf(map: PartitionMap | undefined, incarnation: string): readonly number[] {
  return (map?.owners ?? []).flatMap((owner, partition) => (owner === incarnation ? [partition] : []));
}

/** An entity as JSON text. */
export interface EntityText {
  readonly kind: Exclude<EntityKind, 'setting'>;
  readonly id: string;
  readonly text: string;
}

/**
 * The state and all entities, of which each kind is in the order of creation, as messages of less than 4 MB: msgpack of
 * `[version, 'state', …]`, and then of `[version, 'texts', rows]`, settings first. What is too long for a row goes on in
 * the next one.
 */
export function snapshotParts(state: ConfigState, entities: Iterable<EntityText>): readonly Uint8Array[] {
  const joined = [...state.members.values()].map(
    ({ incarnation, name, protocols, digest, index }): MemberRow => [incarnation, name, protocols, digest, index],
  );
  const dead = [...state.dead.values()].map(({ incarnation, index, left }): DeadRow => [incarnation, index, left]);
  const fields: Valued<typeof STATE> = { protocol: state.protocol, joined, dead, ...mapFields(state.map) };
  const parts = [packed([VERSION, 'state', ...Object.keys(STATE).map((field) => fields[field as keyof typeof STATE])])];
  let rows: TextRow[] = [];
  let bytes = 0;
  for (const row of textRows(state.settings, entities)) {
    const size = ROW_BYTES + Buffer.byteLength(row[1]) + Buffer.byteLength(row[2]);
    if (bytes + size > TEXTS_BYTES_MAX && rows.length > 0) {
      parts.push(packed([VERSION, 'texts', rows]));
      rows = [];
      bytes = 0;
    }
    rows.push(row);
    bytes += size;
  }
  if (rows.length > 0) parts.push(packed([VERSION, 'texts', rows]));
  return parts;
}

/** What `snapshotParts` has made messages of. Throws a ConfigRecordError, which names the message, where one does not fit. */
export function restored(parts: readonly Uint8Array[]): {
  readonly state: ConfigState;
  readonly entities: readonly EntityText[];
} {
  const fields = stateFields(parts[0]);
  const settings = new Map<string, string>();
  const entities: EntityText[] = [];
  let begun: TextRow | undefined;
  for (const [place, part] of parts.entries()) {
    if (place === 0) continue;
    const what = whatOf(place);
    for (const [kind, id, piece, goesOn] of textsOf(part, what)) {
      if (begun !== undefined && (begun[0] !== kind || begun[1] !== id)) throw incomplete(what, begun);
      const text: string = (begun?.[2] ?? '') + piece;
      begun = goesOn ? [kind, id, text, true] : undefined;
      if (goesOn) continue;
      if (kind === 'setting') settings.set(id, text);
      else entities.push({ kind, id, text });
    }
  }
  if (begun !== undefined) throw incomplete(whatOf(parts.length - 1), begun);
  const members = fields.joined.map(([incarnation, name, protocols, digest, index]) => {
    return { incarnation, name, protocols, digest, index };
  });
  const dead = fields.dead.map(([incarnation, index, left]) => ({ incarnation, index, left }));
  const state: ConfigState = {
    settings,
    members: new Map(members.map((member) => [member.incarnation, member])),
    map: partitionMap(fields),
    dead: new Map(dead.map((member) => [member.incarnation, member])),
    protocol: fields.protocol,
  };
  return { state, entities };
}

const VERSION = 1;
/** Of the rows of a message, which has some bytes more. */
const TEXTS_BYTES_MAX = 3_900_000;
/** What a row takes at most beside its texts. */
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
type DeadRow = readonly [incarnation: string, index: number, left: readonly number[]];
type TextRow = readonly [kind: EntityKind, id: string, piece: string, goesOn: boolean];

const STATE = {
  protocol: COUNT,
  joined: listOf(rowOf<MemberRow>(TEXT, TEXT, listOf(COUNT), TEXT, COUNT)),
  dead: listOf(rowOf<DeadRow>(TEXT, COUNT, listOf(PARTITION))),
  ...MAP,
} as const;
const TEXTS = listOf(rowOf<TextRow>(ENTITY_KIND, TEXT, TEXT, FLAG));

function* textRows(settings: ReadonlyMap<string, string>, entities: Iterable<EntityText>): Generator<TextRow> {
  for (const [name, text] of settings) yield* pieces('setting', name, text);
  for (const { kind, id, text } of entities) yield* pieces(kind, id, text);
}

function* pieces(kind: EntityKind, id: string, text: string): Generator<TextRow> {
  let start = 0;
  while (text.length - start > PIECE_MAX) {
    const end = start + PIECE_MAX;
    // Both halves of a character beyond the first 65,536 are in one piece.
    const cut = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield [kind, id, text.slice(start, cut), true];
    start = cut;
  }
  yield [kind, id, text.slice(start), false];
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function stateFields(part: Uint8Array | undefined): Valued<typeof STATE> {
  const what = whatOf(0);
  if (part === undefined) throw new ConfigRecordError(`${what}: there is none`);
  const values = valuesOf(part, what, 'state');
  const fields: Record<string, unknown> = {};
  for (const [place, [field, shape]] of Object.entries(STATE).entries()) {
    check(what, field, values[place], shape);
    fields[field] = values[place];
  }
  return fields as unknown as Valued<typeof STATE>;
}

function textsOf(part: Uint8Array, what: string): readonly TextRow[] {
  const [rows] = valuesOf(part, what, 'texts');
  check(what, 'rows', rows, TEXTS);
  return rows as readonly TextRow[];
}

/** What is behind version and kind. */
function valuesOf(part: Uint8Array, what: string, wanted: 'state' | 'texts'): readonly unknown[] {
  const [version, kind, ...values] = unpacked(what, lend(part));
  if (version !== VERSION) throw misfit(what, 'version', version, `${VERSION}`);
  if (kind !== wanted) throw misfit(what, 'kind', kind, wanted);
  return values;
}

function whatOf(place: number): string {
  return `Cannot read message ${place + 1} of the configuration's snapshot`;
}

function incomplete(what: string, [kind, id]: TextRow): ConfigRecordError {
  return new ConfigRecordError(`${what}: the text of ${kind} ${JSON.stringify(id)} must go on, but does not`);
}

import { PROVIDER_NAME, recordGeneratedMs, recordSize, recordType, SOURCE_NAME } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import { HubError } from '../errors.ts';
import { type Borrowed, look } from '../model/borrowed.ts';
import type { InputBounds } from '../model/bounds.ts';
import { DEPTH_MAX } from '../model/depth.ts';
import type { IngressPath } from '../model/health.ts';
import { parsePart, UnsupportedJson } from '../model/json.ts';
import type { ProviderType, Proximity } from '../model/location.ts';
import type { Zone } from '../model/zone.ts';
import { Turns } from '../time/turns.ts';
import { type BodyScanner, ScannedNames } from './body_scanner.ts';
import { type Checked, checkLocation, type Expected } from './check_location.ts';
import { type CheckedProximity, checkProximity } from './check_proximity.ts';
import { ListPieces, type Piece, PieceBuffer } from './list_pieces.ts';
import { Rejections } from './rejections.ts';

/** What the one way in needs of the hub. */
export interface IngestOptions {
  /** The time of day. */
  now(): number;
  /** Finds a zone by id or foreign id, among those that the shards know. */
  zone(name: string): Zone | undefined;
  /** Whether locations can be kept, where they must be. True when left out. */
  canKeep?(): boolean;
  /** Whether the shards can take that many more. */
  hasCapacity(count: number): boolean;
  /** Hands a location to its shard. */
  location(location: Checked['location'], times: { readonly generatedMs: number; readonly receivedMs: number }): void;
  /** Told of each location that was taken, once its provider is known. hot */
  arrived?(
    location: Pick<Checked['location'], 'provider_id' | 'source' | 'provider_type'>,
    receivedMs: number,
    via: IngressPath,
  ): void;
  /** The id that a provider was created with: a UUID may come in another case. */
  providerId(id: string): string;
  /** Creates the provider if it is unknown; resolves once it is kept. */
  ensureProvider(id: string, type: ProviderType): Promise<void> | undefined;
  /**
   * How often a provider has gone, or has got another shard, or all are to be heard of anew: while that stays the same, what
   * was found out about one still holds. Left out: who knows.
   */
  providersChanged?(): number;
  /** The shard of a provider; 0 when left out. */
  homeOf?(id: string): number;
  /** Told of a provider that was heard of, at least once since `providersChanged` was another. */
  heardOf?(id: string): void;
  /** Told how many locations of a body came from a source one after the other. */
  came?(count: number, from: Came): void;
  /** Tells subscribers of a proximity as it came in. */
  announce(proximity: Proximity & { provider_id: string }): void;
  /**
   * Resolves when the locations handed over since the last call are committed; undefined if a reply need not wait for them.
   * Called in the turn in which they were handed over.
   */
  kept(): Promise<void> | undefined;
  /** The same for a part of a long list; left out if `kept` at the end of the list covers all parts. */
  partKept?(): Promise<void> | undefined;
  /** The earliest time that the history records; all is recorded when left out. */
  recordedSince?(): number;
  /** Levels that properties may be nested; 200 when left out. */
  readonly depthMax?: number;
  /** DEFAULT_BOUNDS when left out. */
  readonly bounds?: InputBounds;
  /** Reads bodies of locations; left out: the parser reads all of them. */
  readonly scanner?: BodyScanner;
  /** Whether what was scanned can be taken now. */
  canTakeScanned?(): boolean;
  /** Hands the locations of a body that was scanned to their shards. */
  scanned?(body: ScannedBody): void;
  /** Bytes of a long body that are read at once; PIECE_BYTES when left out. */
  readonly pieceBytes?: number;
  /** For long lists; own ones when left out. */
  readonly turns?: Turns;
}

/** Where locations came from. */
export interface Came {
  readonly source: string;
  /** Of the last of them. */
  readonly providerType: ProviderType;
  readonly receivedMs: number;
  readonly via: IngressPath;
}

/** What a body is that is not to be scanned, or has something unusual in it: the parser reads it. */
export const UNUSUAL = 'unusual';
/** What a reply must wait for, if anything; or the body is unusual, and nothing of it was taken. */
export type Scanned = Promise<void> | undefined | typeof UNUSUAL;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Values that are checked, or passed on, in one turn. A longer list takes several. */
const AT_ONCE = 1000;

export interface Incoming {
  /** Name of the list in messages, or empty for a single value. */
  readonly root: string;
  /** Provider that the path names. */
  readonly providerId?: string;
  /** `rest` when left out. */
  readonly via?: IngressPath;
  /** Counts the accepted values that are too old for the history. */
  readonly tooOld?: Tally | undefined;
}

/** A count that Ingest adds to. */
export interface Tally {
  count: number;
}

/** Counters: received = those that went to shards + rejected. */
export interface IngestCounts {
  received: number;
  rejected: number;
}

/** What has become of values that were taken one by one. */
export interface TakenEach {
  /** What is wrong with those that were not accepted. */
  readonly problems: readonly string[];
  /** Settles when the accepted ones are kept, or cannot be; undefined where nobody need wait for that. */
  readonly kept: Promise<void> | undefined;
}

/** The one way in for locations and proximities, whatever brings them. */
export class Ingest {
  readonly counts: IngestCounts = { received: 0, rejected: 0 };
  readonly #options: IngestOptions;
  readonly #rejections = new Rejections();
  /** What is told of the bodies that are scanned: none where nothing scans. */
  readonly #scanning: Scanning | undefined;
  readonly #turns: Turns;
  readonly #pieceBuffer: PieceBuffer;
  #proximities = 0;
  /** Of long lists: values that were accepted and are still to be passed on. */
  #accepted = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    const { scanner } = options;
    this.#scanning = scanner && { scanner, names: new ScannedNames(scanner) };
    this.#turns = options.turns ?? new Turns();
    this.#pieceBuffer = new PieceBuffer(options.pieceBytes);
  }

  /** Rejected values by reason, and by `other` where there was none. Their sum is `counts.rejected`. */
  rejections(): ReadonlyMap<string, number> {
    const byReason = new Map(this.#rejections.counts());
    let other = this.counts.rejected;
    for (const values of byReason.values()) other -= values;
    return other > 0 ? byReason.set('other', other) : byReason;
  }

  /** Proximities that were taken. */
  get proximitiesTaken(): number {
    return this.#proximities;
  }

  /**
   * Accepts all of the locations or none, a long list in turns. Throws, or rejects with, HUB_BAD_REQUEST that names index,
   * field and value, and HUB_UNAVAILABLE when the shards are full. Returns what a reply must wait for, if anything.
   */
  locations(values: readonly unknown[], incoming: Incoming): Promise<void> | undefined {
    return this.#all(values, incoming, LOCATIONS);
  }

  /**
   * Accepts the locations of a body as locations does, straight from its bytes, without making values of them. What is
   * unusual in any way, or wrong, is for locations to take or refuse.
   */
  // hot
  body(body: Borrowed, { providerId, via = 'rest', tooOld }: Omit<Incoming, 'root'>): Scanned {
    const read: ReadBytes = (scanner, receivedMs) =>
      providerId === undefined ? scanner.list(look(body), receivedMs) : scanner.one(look(body), receivedMs, providerId);
    return this.#scan(read, { via, tooOld });
  }

  /** The same for a message of a WebSocket that publishes locations. What has a bad one is for publishedLocations. */
  // hot
  message(frame: Borrowed): Scanned {
    return this.#scan((scanner, receivedMs) => scanner.message(look(frame), receivedMs), { via: 'ws' });
  }

  // hot
  #scan(read: ReadBytes, from: Omit<Passing, 'receivedMs'>): Scanned {
    const { now } = this.#options;
    const receivedMs = now();
    const count = this.#read(read, receivedMs);
    if (count === 0) return UNUSUAL;
    this.#count(count);
    this.#requireCapacity(count);
    return this.#keptAll(this.#passScanned(count, { ...from, receivedMs }));
  }

  /**
   * Accepts the locations of a long body as locations does. It is read in pieces, in a turn each, first to see whether all
   * of them are right, then to pass them on; of a piece that has something unusual in it values are made, and none is
   * kept: so however long the body is, nothing of it becomes old garbage. The bytes must stay as they are meanwhile.
   *
   * Rejects as locations does, and with a SyntaxError or an UnsupportedJson. Resolves with what a reply must wait for;
   * with UNUSUAL, and nothing has been done, for what is no list or has items that are too long.
   */
  async longBody(
    body: Uint8Array,
    { root, via = 'rest', tooOld }: Incoming,
  ): Promise<{ readonly kept: Promise<void> | undefined } | typeof UNUSUAL> {
    const list = new ListPieces(body, this.#options.pieceBytes);
    do await this.#turns.next();
    while (!list.cut());
    if (list.isUnfit) return UNUSUAL;
    const { pieces, items } = list;
    this.#count(items);
    try {
      for (const piece of pieces) {
        await this.#turns.next();
        this.#checkPiece(piece, { body, root, of: items });
      }
    } catch (error) {
      // What is no JSON has no locations.
      if (!(error instanceof HubError)) this.#count(-items);
      throw error;
    }
    this.#requireCapacity(items);
    this.#accepted += items;
    const works: Promise<void>[] = [];
    for (const piece of pieces) {
      await this.#turns.next();
      this.#accepted -= piece.items;
      works.push(...this.#passPiece(piece, { body, root, via, tooOld }), ...this.#partKept());
    }
    return { kept: this.#keptAll(works) };
  }

  #checkPiece(
    piece: Piece,
    { body, root, of }: { readonly body: Uint8Array; readonly root: string; readonly of: number },
  ) {
    const bytes = this.#pieceBuffer.listOf(piece, body);
    const receivedMs = this.#options.now();
    if (this.#read((scanner) => scanner.list(bytes, receivedMs), receivedMs) === piece.items) return;
    const values = this.#valuesOf(bytes, piece);
    const all = { values, first: piece.first, of, incoming: { root }, kind: LOCATIONS, receivedMs, checked: [] };
    this.#checkAll(all, 0, values.length);
  }

  /** Passes on locations that were right. One that names a zone which has gone since comes too late. */
  #passPiece(
    piece: Piece,
    { body, root, via, tooOld }: Omit<Passing, 'receivedMs'> & { readonly body: Uint8Array; readonly root: string },
  ): Promise<void>[] {
    const bytes = this.#pieceBuffer.listOf(piece, body);
    const receivedMs = this.#options.now();
    const count = this.#read((scanner) => scanner.list(bytes, receivedMs), receivedMs);
    if (count > 0) return this.#passScanned(count, { receivedMs, via, tooOld });
    const values = this.#valuesOf(bytes, piece);
    const checked: Checked[] = [];
    const nameOf = (index: number) => `${root}[${piece.first + index}]`;
    this.#checkEach({ values, nameOf, kind: LOCATIONS, receivedMs, checked, problems: [] }, 0, values.length);
    return this.#pass(checked, { kind: LOCATIONS, via, receivedMs, tooOld });
  }

  /** What a piece is parsed to. Throws what parsePart throws. */
  #valuesOf(bytes: Uint8Array, { first, items }: Piece): readonly unknown[] {
    const { depthMax = DEPTH_MAX } = this.#options;
    const placeOf = ([index, ...path]: readonly string[]) => [String(Number(index) + first), ...path];
    const values = parsePart(textOf(bytes), { everywhere: false, depthMax, levels: depthMax, fullPath: placeOf });
    if (Array.isArray(values) && values.length === items) return values;
    throw new SyntaxError('Unexpected token "]"');
  }

  /** Scans a body; returns how many locations it has, 0 where it is unusual. */
  // hot
  #read(read: ReadBytes, receivedMs: number): number {
    const { canTakeScanned, providersChanged } = this.#options;
    if (this.#scanning === undefined || canTakeScanned?.() !== true) return 0;
    const { scanner, names } = this.#scanning;
    const count = read(scanner, receivedMs);
    if (count <= 0) {
      names.makeRoom(scanner);
      return 0;
    }
    names.learn(scanner);
    return names.hasUuids && this.#namesOther(this.#scanning, providersChanged?.()) ? 0 : count;
  }

  /** Accepts all of the proximities or none, as locations does. */
  proximities(values: readonly unknown[], incoming: Incoming): Promise<void> | undefined {
    return this.#all(values, incoming, PROXIMITIES);
  }

  /**
   * Accepts the locations that can be, and says what is wrong with the others, by the names that they have where they
   * come from. Throws HUB_UNAVAILABLE when full.
   */
  locationsEach(values: readonly unknown[], via: IngressPath = 'ws', nameOf = nameInPayload): TakenEach {
    return this.#each(values, { kind: LOCATIONS, via, nameOf });
  }

  /** The proximities that can be accepted, as locationsEach. */
  proximitiesEach(values: readonly unknown[], via: IngressPath, nameOf = nameInPayload): TakenEach {
    return this.#each(values, { kind: PROXIMITIES, via, nameOf });
  }

  /** The locations of a message, as locationsEach, a long list in turns. Throws, or rejects with, HUB_UNAVAILABLE. */
  publishedLocations(values: readonly unknown[]): TakenEach | Promise<TakenEach> {
    return this.#published(values, { kind: LOCATIONS, via: 'ws', nameOf: nameInPayload });
  }

  /** The proximities of a message, as publishedLocations. */
  publishedProximities(values: readonly unknown[]): TakenEach | Promise<TakenEach> {
    return this.#published(values, { kind: PROXIMITIES, via: 'ws', nameOf: nameInPayload });
  }

  #all<T extends Checked>(values: readonly unknown[], incoming: Incoming, kind: Kind<T>): Promise<void> | undefined {
    this.#count(values.length);
    const { via = 'rest', tooOld } = incoming;
    const checked: T[] = [];
    const all = { values, first: 0, of: values.length, incoming, kind, receivedMs: this.#options.now(), checked };
    if (values.length > AT_ONCE) {
      const check = (from: number, to: number) => this.#checkAll(all, from, to);
      return this.#inTurns(values.length, check, { kind, via, checked, tooOld }).then(({ kept }) => kept);
    }
    this.#checkAll(all, 0, values.length);
    this.#requireCapacity(checked.length);
    return this.#keptAll(this.#pass(checked, { kind, via, tooOld, receivedMs: all.receivedMs }));
  }

  #each<T extends Checked>(values: readonly unknown[], { kind, via, nameOf }: Each<T>): TakenEach {
    this.#count(values.length);
    const [checked, problems]: [T[], string[]] = [[], []];
    this.#requireCapacity(values.length);
    const receivedMs = this.#options.now();
    this.#checkEach({ values, nameOf, kind, receivedMs, checked, problems }, 0, values.length);
    return { problems, kept: this.#keptAll(this.#pass(checked, { kind, via, receivedMs })) };
  }

  #published<T extends Checked>(values: readonly unknown[], each: Each<T>): TakenEach | Promise<TakenEach> {
    if (values.length <= AT_ONCE) return this.#each(values, each);
    this.#count(values.length);
    const [checked, problems]: [T[], string[]] = [[], []];
    this.#requireCapacity(values.length);
    const all = { ...each, values, receivedMs: this.#options.now(), checked, problems };
    const check = (from: number, to: number) => this.#checkEach(all, from, to);
    return this.#inTurns(values.length, check, { ...each, checked }).then(({ kept }) => ({ problems, kept }));
  }

  /** Checks and passes on a long list. It is received when it is passed on, since others have been meanwhile. */
  #inTurns<T extends Checked>(
    count: number,
    check: (from: number, to: number) => void,
    { checked, ...incoming }: Omit<Passing, 'receivedMs'> & { readonly kind: Kind<T>; readonly checked: readonly T[] },
  ): Promise<{ readonly kept: Promise<void> | undefined }> {
    const work = async () => {
      for (let from = 0; from < count; from += AT_ONCE) {
        check(from, Math.min(from + AT_ONCE, count));
        await this.#turns.next();
      }
      this.#requireCapacity(checked.length);
      const works: Promise<void>[] = [];
      this.#accepted += checked.length;
      for (let from = 0; from < checked.length; from += AT_ONCE) {
        if (from > 0) await this.#turns.next();
        const some = checked.slice(from, from + AT_ONCE);
        this.#accepted -= some.length;
        works.push(...this.#pass(some, { ...incoming, receivedMs: this.#options.now() }), ...this.#partKept());
      }
      return { kept: this.#keptAll(works) };
    };
    return this.#turns.alone(work, { goesOn: true });
  }

  #checkAll<T extends Checked>(all: AllOf<T>, from: number, to: number): void {
    const { values, first, of, incoming, kind, receivedMs, checked } = all;
    const { root, providerId } = incoming;
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    for (let index = from; index < to; index++) {
      const at = root === '' ? '' : `${root}[${first + index}]`;
      const found = kind.check(values[index], { at, providerId, receivedMs, zone, knownId, depthMax, bounds });
      if (typeof found === 'string') {
        this.#rejections.countProblem(found, at);
        // The others are refused for its sake.
        this.#rejections.count('list', of - 1);
        throw new HubError('HUB_BAD_REQUEST', found);
      }
      checked.push(found);
    }
  }

  #checkEach<T extends Checked>(each: EachOf<T>, from: number, to: number): void {
    const { values, nameOf, kind, receivedMs, checked, problems } = each;
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    for (let index = from; index < to; index++) {
      const at = nameOf(index);
      const found = kind.check(values[index], { at, receivedMs, zone, knownId, depthMax, bounds });
      if (typeof found === 'string') {
        this.#rejections.countProblem(found, at);
        problems.push(found);
      } else checked.push(found);
    }
  }

  /** Values count as rejected until they are passed on, whatever is thrown meanwhile. */
  #count(values: number): void {
    this.counts.received += values;
    this.counts.rejected += values;
  }

  #requireCapacity(count: number): void {
    const { canKeep, hasCapacity } = this.#options;
    if (canKeep?.() === false) {
      this.#rejections.count('database', count);
      throw new HubError('HUB_UNAVAILABLE', 'Cannot accept locations: the database does not take them at the moment');
    }
    if (hasCapacity(this.#accepted + count)) return;
    this.#rejections.count('full', count);
    throw new HubError('HUB_UNAVAILABLE', 'Cannot accept locations: too many are waiting to be processed, try again');
  }

  /** Passes accepted values on. Returns what is done for unknown providers. */
  #pass<T extends Checked>(
    checked: readonly T[],
    { kind, via, receivedMs, tooOld }: Passing & { readonly kind: Kind<T> },
  ): Promise<void>[] {
    const works: Promise<void>[] = [];
    this.counts.rejected -= checked.length;
    const sinceMs = this.#recordedSince(tooOld);
    for (const { location, generatedMs } of checked) {
      if (tooOld !== undefined && generatedMs < sinceMs) tooOld.count++;
      const work = this.#options.ensureProvider(location.provider_id, location.provider_type);
      if (work !== undefined) works.push(work);
      this.#options.arrived?.(location, receivedMs, via);
      this.#options.location(location, { generatedMs, receivedMs });
    }
    for (const proximity of kind.proximities(checked)) {
      this.#proximities++;
      this.#options.announce(proximity);
    }
    return works;
  }

  /** Passes on what was scanned last. */
  // hot
  #passScanned(count: number, { receivedMs, via, tooOld }: Passing): Promise<void>[] {
    const { scanned, providersChanged } = this.#options;
    const { scanner, names } = this.#scanning as Scanning;
    const changes = providersChanged?.();
    const [works, newProviders]: [Promise<void>[], string[]] = [[], []];
    this.counts.rejected -= count;
    const { view, start, end } = scanner;
    const sinceMs = this.#recordedSince(tooOld);
    let [source, type, came] = [-1, 0, 0];
    for (let at = start; at < end; at += recordSize(scanner, at)) {
      if (tooOld !== undefined && recordGeneratedMs(scanner, at) < sinceMs) tooOld.count++;
      const number = view.getUint32(at + PROVIDER_NAME, true);
      if (changes === undefined || !names.isKnown(number, changes)) {
        const work = this.#meet(number, recordType(scanner, at));
        if (work !== undefined) {
          works.push(work);
          newProviders.push(names.of(number));
        } else if (changes !== undefined) names.noteKnown(number, changes);
      }
      const from = view.getUint32(at + SOURCE_NAME, true);
      if (from !== source && came > 0) {
        this.#noteCame(came, { source, at: type, receivedMs, via });
        came = 0;
      }
      source = from;
      type = at;
      came++;
    }
    this.#noteCame(came, { source, at: type, receivedMs, via });
    scanned?.({ records: scanner, start, end, receivedMs, newProviders, nameOf: names.of, homeOf: names.homeOf });
    return works;
  }

  /** The earliest time that the history records, where the caller wants to know what is older. */
  #recordedSince(tooOld: Tally | undefined): number {
    return tooOld === undefined
      ? Number.NEGATIVE_INFINITY
      : (this.#options.recordedSince?.() ?? Number.NEGATIVE_INFINITY);
  }

  /** Sees to it that the provider of a scanned location exists. Returns what is done for that. */
  #meet(number: number, type: ProviderType): Promise<void> | undefined {
    const { ensureProvider, heardOf, homeOf } = this.#options;
    const { names } = this.#scanning as Scanning;
    const id = names.of(number);
    const work = ensureProvider(id, type);
    heardOf?.(id);
    names.noteHome(number, homeOf?.(id) ?? 0);
    return work;
  }

  #noteCame(
    count: number,
    { source, at, receivedMs, via }: { source: number; at: number; receivedMs: number; via: IngressPath },
  ): void {
    const { scanner, names } = this.#scanning as Scanning;
    this.#options.came?.(count, { source: names.of(source), providerType: recordType(scanner, at), receivedMs, via });
  }

  /** Whether a provider that is called by a UUID was created with that in another case. */
  // hot
  #namesOther({ scanner, names }: Scanning, changes: number | undefined): boolean {
    for (let at = scanner.start; at < scanner.end; at += recordSize(scanner, at)) {
      const number = scanner.view.getUint32(at + PROVIDER_NAME, true);
      if (changes !== undefined && names.isKnown(number, changes)) continue;
      const id = names.of(number);
      if (this.#options.providerId(id) !== id) return true;
    }
    return false;
  }

  /** What the reply to a list must wait for of the part that was just passed on. */
  #partKept(): Promise<void>[] {
    const kept = this.#options.partKept?.();
    // Nobody waits for it before the end of the list.
    kept?.catch(() => undefined);
    return kept === undefined ? [] : [kept];
  }

  /** Resolves when what was passed on is kept; undefined where nobody need wait for that. */
  #keptAll(works: Promise<void>[]): Promise<void> | undefined {
    const kept = this.#options.kept();
    if (kept !== undefined) works.push(kept);
    return works.length === 0 ? undefined : Promise.all(works).then(() => undefined);
  }
}

/** How accepted values came. */
interface Passing extends Pick<Incoming, 'tooOld'> {
  readonly via: IngressPath;
  readonly receivedMs: number;
}

type ReadBytes = (scanner: BodyScanner, receivedMs: number) => number;

interface Scanning {
  readonly scanner: BodyScanner;
  readonly names: ScannedNames;
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new UnsupportedJson('body: must be JSON, found bytes that are not UTF-8', { cause });
  }
}

function nameInPayload(index: number): string {
  return `payload[${index}]`;
}

/** What is taken. */
interface Kind<T extends Checked> {
  readonly check: (value: unknown, expected: Expected) => T | string;
  /** Those among the values of which subscribers are told as they came in. */
  readonly proximities: (checked: readonly T[]) => readonly CheckedProximity['proximity'][];
}

const NONE: readonly CheckedProximity['proximity'][] = [];
const LOCATIONS: Kind<Checked> = { check: checkLocation, proximities: () => NONE };
const PROXIMITIES: Kind<CheckedProximity> = {
  check: checkProximity,
  proximities: (checked) => checked.map(({ proximity }) => proximity),
};

interface Each<T extends Checked> {
  readonly kind: Kind<T>;
  readonly via: IngressPath;
  readonly nameOf: (index: number) => string;
}

/** Values of which all are taken or none, and those that were found good so far. */
interface AllOf<T extends Checked> {
  readonly values: readonly unknown[];
  /** The index of the first of them among all, and how many these are. */
  readonly first: number;
  readonly of: number;
  readonly incoming: Incoming;
  readonly kind: Kind<T>;
  readonly receivedMs: number;
  readonly checked: T[];
}

/** Values that are taken one by one, those that were found good so far, and what is wrong with the others. */
interface EachOf<T extends Checked> extends Omit<AllOf<T>, 'incoming' | 'first' | 'of'> {
  readonly nameOf: (index: number) => string;
  readonly problems: string[];
}

import { hubError, HubError } from '../errors.ts';
import { problemOf, type Problem } from '../problem.ts';
import { type Borrowed, look } from '../model/borrowed.ts';
import { DEPTH_MAX } from '../model/depth.ts';
import type { IngressPath } from '../model/health.ts';
import { parsePart, UnsupportedJson } from '../model/json.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';
import type { CheckedLocation } from './check_location.ts';
import { type Counter, type IngestOptions, recordedSince, type ValueOrigin } from './ingest_options.ts';
import { ListPieces, type Piece, PieceBuffer } from './list_pieces.ts';
import { type ReadBytes, ScannedLocations } from './scanned_locations.ts';
import { type Kind, LOCATIONS, PROXIMITIES, ValueChecks } from './value_checks.ts';

/** Result for a body in an unusual form, which was not scanned and must be parsed. */
export const UNUSUAL = 'unusual';
/** Promise for which the response must wait, if any; UNUSUAL if nothing was accepted. */
export type Scanned = Promise<void> | undefined | typeof UNUSUAL;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Number of values checked or passed on before yielding to the event loop. */
const VALUES_PER_TURN = 1000;

export interface IncomingValues {
  /** Name of the list in messages, or empty for a single value. */
  readonly root: string;
  /** Provider in the path of the request. */
  readonly providerId?: string;
  /** Default `rest`. */
  readonly via?: IngressPath;
  /** Counts the accepted values that are too old for the history. */
  readonly tooOld?: Counter | undefined;
}

/** Counters of values: received = passed to shards + rejected. */
export interface IngestCounts {
  received: number;
  rejected: number;
}

/** Result of values that are accepted one by one. */
export interface EachResult {
  /** Problems of the rejected values. */
  readonly problems: readonly Problem[];
  /** Settles when the accepted values are committed or have failed; undefined if no wait is needed. */
  readonly committed: Promise<void> | undefined;
}

/** Entry point of all locations and proximities, whatever their transport. */
export class Ingest {
  readonly counts: IngestCounts = { received: 0, rejected: 0 };
  readonly #options: IngestOptions;
  readonly #checks: ValueChecks;
  /** Fast path for locations; undefined without a scanner. */
  readonly #scanned: ScannedLocations | undefined;
  readonly #turns: TaskScheduler;
  readonly #pieceBuffer: PieceBuffer;
  #proximities = 0;
  /** Number of values in long lists that were accepted but not yet passed on. */
  #accepted = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#checks = new ValueChecks(options);
    const { scanner } = options;
    this.#scanned = scanner && new ScannedLocations(options, scanner);
    this.#turns = options.turns ?? new TaskScheduler();
    this.#pieceBuffer = new PieceBuffer(options.pieceBytes);
  }

  /** Returns the number of rejected values by reason; `other` for those without one. Their sum is `counts.rejected`. */
  rejections(): ReadonlyMap<string, number> {
    const byReason = new Map(this.#checks.rejections.counts());
    let other = this.counts.rejected;
    for (const values of byReason.values()) other -= values;
    return other > 0 ? byReason.set('other', other) : byReason;
  }

  /** Number of accepted proximities. */
  get proximitiesTaken(): number {
    return this.#proximities;
  }

  /**
   * Accepts all locations or none; yields to the event loop during a long list. Throws, or rejects with,
   * HUB_BAD_REQUEST with index, field and value, or HUB_UNAVAILABLE if the shards are full. Returns the promise for
   * which the response must wait, if any.
   */
  locations(values: readonly unknown[], incoming: IncomingValues): Promise<void> | undefined {
    return this.#all(values, incoming, LOCATIONS);
  }

  /**
   * Like `locations`, but scans the bytes of a body without creating values. Returns UNUSUAL for a body that is unusual
   * or invalid, which `locations` must then accept or reject.
   */
  // hot
  body(body: Borrowed, { providerId, via = 'rest', tooOld }: Omit<IncomingValues, 'root'>): Scanned {
    const read: ReadBytes = (scanner, receivedMs) =>
      providerId === undefined ? scanner.list(look(body), receivedMs) : scanner.one(look(body), receivedMs, providerId);
    return this.#scan(read, { via, tooOld });
  }

  /**
   * Like `body`, for a WebSocket message that publishes locations. publishedLocations must handle a message for which
   * this returns UNUSUAL.
   */
  // hot
  message(frame: Borrowed): Scanned {
    return this.#scan((scanner, receivedMs) => scanner.message(look(frame), receivedMs), { via: 'ws' });
  }

  // hot
  #scan(read: ReadBytes, from: Omit<ValueOrigin, 'receivedMs'>): Scanned {
    const { now } = this.#options;
    const receivedMs = now();
    const count = this.#scanned?.read(read, receivedMs) ?? 0;
    if (count === 0) return UNUSUAL;
    this.#count(count);
    this.#requireCapacity(count);
    return this.#committedAll(this.#passScanned(count, { ...from, receivedMs }));
  }

  /**
   * Like `locations`, for a long body, which is processed piece by piece, yielding to the event loop in between. First
   * all locations are validated, then they are passed on. Only pieces with unusual content are parsed, and their values
   * are not retained, so even a very long body creates no long-lived garbage. The bytes must not change until it
   * settles.
   *
   * Rejects like `locations`, or with a SyntaxError or an UnsupportedJson. Resolves with the promise for which the
   * response must wait, or without any effect with UNUSUAL for a body that is not a list or has items that are too
   * long.
   */
  async longBody(
    body: Uint8Array,
    { root, via = 'rest', tooOld }: IncomingValues,
  ): Promise<{ readonly committed: Promise<void> | undefined } | typeof UNUSUAL> {
    const list = new ListPieces(body, this.#options.pieceBytes);
    do await this.#turns.next();
    while (!list.cut());
    if (list.isUnsupported) return UNUSUAL;
    const { pieces, items } = list;
    this.#count(items);
    try {
      for (const piece of pieces) {
        await this.#turns.next();
        this.#checkPiece(piece, { body, root, of: items });
      }
    } catch (error) {
      // Invalid JSON counts as no locations.
      if (!(error instanceof HubError)) this.#count(-items);
      throw error;
    }
    this.#requireCapacity(items);
    const works: Promise<void>[] = [];
    let left = items;
    this.#accepted += left;
    try {
      for (const piece of pieces) {
        await this.#turns.next();
        this.#accepted -= piece.items;
        left -= piece.items;
        works.push(...this.#passPiece(piece, { body, root, via, tooOld }), ...this.#partCommitted());
      }
    } finally {
      // After an exception, the rest is never passed on.
      this.#accepted -= left;
    }
    return { committed: this.#committedAll(works) };
  }

  #checkPiece(
    piece: Piece,
    { body, root, of }: { readonly body: Uint8Array; readonly root: string; readonly of: number },
  ) {
    const bytes = this.#pieceBuffer.listOf(piece, body);
    const receivedMs = this.#options.now();
    if (this.#scanned?.read((scanner) => scanner.list(bytes, receivedMs), receivedMs) === piece.items) return;
    const values = this.#valuesOf(bytes, piece);
    const all = { values, first: piece.first, of, incoming: { root }, kind: LOCATIONS, receivedMs, checked: [] };
    this.#checks.checkAll(all, 0, values.length);
  }

  /** Passes on validated locations, except those whose zone was deleted in the meantime. */
  #passPiece(
    piece: Piece,
    { body, root, via, tooOld }: Omit<ValueOrigin, 'receivedMs'> & { readonly body: Uint8Array; readonly root: string },
  ): Promise<void>[] {
    const bytes = this.#pieceBuffer.listOf(piece, body);
    const receivedMs = this.#options.now();
    const count = this.#scanned?.read((scanner) => scanner.list(bytes, receivedMs), receivedMs) ?? 0;
    if (count > 0) return this.#passScanned(count, { receivedMs, via, tooOld });
    const values = this.#valuesOf(bytes, piece);
    const checked: CheckedLocation[] = [];
    const nameOf = (index: number) => `${root}[${piece.first + index}]`;
    this.#checks.checkEach({ values, nameOf, kind: LOCATIONS, receivedMs, checked, problems: [] }, 0, values.length);
    return this.#pass(checked, { kind: LOCATIONS, via, receivedMs, tooOld });
  }

  /** Parses a piece. Throws like parsePart. */
  #valuesOf(bytes: Uint8Array, { first, items }: Piece): readonly unknown[] {
    const { depthMax = DEPTH_MAX } = this.#options;
    const pathOf = ([index, ...path]: readonly string[]) => [String(Number(index) + first), ...path];
    const values = parsePart(decodeUtf8(bytes), { everywhere: false, depthMax, levels: depthMax, fullPath: pathOf });
    if (Array.isArray(values) && values.length === items) return values;
    throw new SyntaxError('Unexpected token "]"');
  }

  /** Like `locations`, for proximities. */
  proximities(values: readonly unknown[], incoming: IncomingValues): Promise<void> | undefined {
    return this.#all(values, incoming, PROXIMITIES);
  }

  /**
   * Accepts the valid locations and returns the problems of the others, with names from `nameOf`. Throws
   * HUB_UNAVAILABLE if the shards are full.
   */
  locationsEach(values: readonly unknown[], via: IngressPath = 'ws', nameOf = nameInPayload): EachResult {
    return this.#each(values, { kind: LOCATIONS, via, nameOf });
  }

  /** Like locationsEach, for proximities. */
  proximitiesEach(values: readonly unknown[], via: IngressPath, nameOf = nameInPayload): EachResult {
    return this.#each(values, { kind: PROXIMITIES, via, nameOf });
  }

  /**
   * Like locationsEach, for the locations of a message; yields to the event loop during a long list. Throws, or rejects
   * with, HUB_UNAVAILABLE.
   */
  publishedLocations(values: readonly unknown[]): EachResult | Promise<EachResult> {
    return this.#published(values, { kind: LOCATIONS, via: 'ws', nameOf: nameInPayload });
  }

  /** Like publishedLocations, for proximities. */
  publishedProximities(values: readonly unknown[]): EachResult | Promise<EachResult> {
    return this.#published(values, { kind: PROXIMITIES, via: 'ws', nameOf: nameInPayload });
  }

  #all<T extends CheckedLocation>(
    values: readonly unknown[],
    incoming: IncomingValues,
    kind: Kind<T>,
  ): Promise<void> | undefined {
    this.#count(values.length);
    const { via = 'rest', tooOld } = incoming;
    const checked: T[] = [];
    const all = { values, first: 0, of: values.length, incoming, kind, receivedMs: this.#options.now(), checked };
    if (values.length > VALUES_PER_TURN) {
      const check = (from: number, to: number) => this.#checks.checkAll(all, from, to);
      return this.#acceptLongList(values.length, check, { kind, via, checked, tooOld }).then(
        ({ committed }) => committed,
      );
    }
    this.#checks.checkAll(all, 0, values.length);
    this.#requireCapacity(checked.length);
    return this.#committedAll(this.#pass(checked, { kind, via, tooOld, receivedMs: all.receivedMs }));
  }

  #each<T extends CheckedLocation>(values: readonly unknown[], { kind, via, nameOf }: Each<T>): EachResult {
    this.#count(values.length);
    const [checked, problems]: [T[], Problem[]] = [[], []];
    this.#requireCapacity(values.length);
    const receivedMs = this.#options.now();
    this.#checks.checkEach({ values, nameOf, kind, receivedMs, checked, problems }, 0, values.length);
    return { problems, committed: this.#committedAll(this.#pass(checked, { kind, via, receivedMs })) };
  }

  #published<T extends CheckedLocation>(values: readonly unknown[], each: Each<T>): EachResult | Promise<EachResult> {
    if (values.length <= VALUES_PER_TURN) return this.#each(values, each);
    this.#count(values.length);
    const [checked, problems]: [T[], Problem[]] = [[], []];
    this.#requireCapacity(values.length);
    const all = { ...each, values, receivedMs: this.#options.now(), checked, problems };
    const check = (from: number, to: number) => this.#checks.checkEach(all, from, to);
    return this.#acceptLongList(values.length, check, { ...each, checked }).then(({ committed }) => ({
      problems,
      committed,
    }));
  }

  /**
   * Validates a long list and passes it on. Its time of receipt is the time of passing on, since other values were
   * received in the meantime.
   */
  #acceptLongList<T extends CheckedLocation>(
    count: number,
    check: (from: number, to: number) => void,
    {
      checked,
      ...incoming
    }: Omit<ValueOrigin, 'receivedMs'> & { readonly kind: Kind<T>; readonly checked: readonly T[] },
  ): Promise<{ readonly committed: Promise<void> | undefined }> {
    const work = async () => {
      for (let from = 0; from < count; from += VALUES_PER_TURN) {
        check(from, Math.min(from + VALUES_PER_TURN, count));
        await this.#turns.next();
      }
      this.#requireCapacity(checked.length);
      const works: Promise<void>[] = [];
      let left = checked.length;
      this.#accepted += left;
      try {
        for (let from = 0; from < checked.length; from += VALUES_PER_TURN) {
          if (from > 0) await this.#turns.next();
          const some = checked.slice(from, from + VALUES_PER_TURN);
          this.#accepted -= some.length;
          left -= some.length;
          works.push(...this.#pass(some, { ...incoming, receivedMs: this.#options.now() }), ...this.#partCommitted());
        }
      } finally {
        // After an exception, the rest is never passed on.
        this.#accepted -= left;
      }
      return { committed: this.#committedAll(works) };
    };
    return this.#turns.alone(work, { goesOn: true });
  }

  /**
   * Counts received values. They count as rejected until they are passed on, so that the counters stay correct after an
   * exception.
   */
  #count(values: number): void {
    this.counts.received += values;
    this.counts.rejected += values;
  }

  #requireCapacity(count: number): void {
    const { canStore, hasCapacity } = this.#options;
    if (canStore?.() === false) {
      this.#checks.rejections.count('database', count);
      throw hubError('database_unavailable', { operation: 'accept_locations' });
    }
    if (hasCapacity(this.#accepted + count)) return;
    this.#checks.rejections.count('full', count);
    throw hubError('locations_waiting');
  }

  /** Passes on accepted values. Returns promises for the creation of new providers. */
  #pass<T extends CheckedLocation>(
    checked: readonly T[],
    { kind, via, receivedMs, tooOld }: ValueOrigin & { readonly kind: Kind<T> },
  ): Promise<void>[] {
    const works: Promise<void>[] = [];
    this.counts.rejected -= checked.length;
    const sinceMs = recordedSince(this.#options, tooOld);
    for (const { location, generatedMs } of checked) {
      if (tooOld !== undefined && generatedMs < sinceMs) tooOld.count++;
      const work = this.#options.ensureProvider(location.provider_id, location.provider_type);
      if (work !== undefined) works.push(work);
      this.#options.accepted?.(location, receivedMs, via);
      this.#options.location(location, { generatedMs, receivedMs });
    }
    for (const proximity of kind.proximities(checked)) {
      this.#proximities++;
      this.#options.publishProximity(proximity);
    }
    return works;
  }

  // hot
  #passScanned(count: number, from: ValueOrigin): Promise<void>[] {
    this.counts.rejected -= count;
    return this.#scanned?.pass(from) ?? [];
  }

  /** Returns the commit of the part just passed on, for which the response to the list must wait. */
  #partCommitted(): Promise<void>[] {
    const committed = this.#options.partCommitted?.();
    // Prevents an unhandled rejection, since the promise is awaited only at the end of the list.
    committed?.catch(() => undefined);
    return committed === undefined ? [] : [committed];
  }

  /** Resolves when the passed values are committed; undefined if no wait is needed. */
  #committedAll(works: Promise<void>[]): Promise<void> | undefined {
    const committed = this.#options.committed();
    if (committed !== undefined) works.push(committed);
    return works.length === 0 ? undefined : Promise.all(works).then(() => undefined);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new UnsupportedJson(problemOf('not_utf8', { path: 'body' }), { cause });
  }
}

function nameInPayload(index: number): string {
  return `payload[${index}]`;
}

interface Each<T extends CheckedLocation> {
  readonly kind: Kind<T>;
  readonly via: IngressPath;
  readonly nameOf: (index: number) => string;
}

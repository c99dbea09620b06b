import { PROVIDER_NAME, recordGeneratedMs, recordSize, recordType, SOURCE_NAME } from '../core/location/record.ts';
import type { IngressPath } from '../model/health.ts';
import type { ProviderType } from '../model/location.ts';
import { type BodyScanner, ScannedNames } from './body_scanner.ts';
import { type IngestOptions, recordedSince, type ValueOrigin } from './ingest_options.ts';

/** Scans a body and returns its number of locations. */
export type ReadBytes = (scanner: BodyScanner, receivedMs: number) => number;

/** Fast path of locations: scans bodies into location records without creating values, and passes them on. */
export class ScannedLocations {
  readonly #options: IngestOptions;
  readonly #scanner: BodyScanner;
  readonly #names: ScannedNames;

  constructor(options: IngestOptions, scanner: BodyScanner) {
    this.#options = options;
    this.#scanner = scanner;
    this.#names = new ScannedNames(scanner);
  }

  /** Scans a body and returns its number of locations; 0 if the body is unusual or cannot be accepted. */
  // hot
  read(read: ReadBytes, receivedMs: number): number {
    const { canTakeScanned, providersChanged } = this.#options;
    if (canTakeScanned?.() !== true) return 0;
    const scanner = this.#scanner;
    const names = this.#names;
    const count = read(scanner, receivedMs);
    if (count <= 0) {
      names.makeRoom(scanner);
      return 0;
    }
    names.learn(scanner);
    return names.hasUuids && this.#hasOtherCase(providersChanged?.()) ? 0 : count;
  }

  /** Passes the locations of the last body to their shards. Returns promises for the creation of new providers. */
  // hot
  pass({ receivedMs, via, tooOld }: ValueOrigin): Promise<void>[] {
    const { scanned, providersChanged } = this.#options;
    const scanner = this.#scanner;
    const names = this.#names;
    const changes = providersChanged?.();
    const [works, newProviders]: [Promise<void>[], string[]] = [[], []];
    const { view, start, end } = scanner;
    const sinceMs = recordedSince(this.#options, tooOld);
    let [source, type, came] = [-1, 0, 0];
    for (let at = start; at < end; at += recordSize(scanner, at)) {
      if (tooOld !== undefined && recordGeneratedMs(scanner, at) < sinceMs) tooOld.count++;
      const number = view.getUint32(at + PROVIDER_NAME, true);
      if (changes === undefined || !names.isKnown(number, changes)) {
        const work = this.#register(number, recordType(scanner, at));
        if (work !== undefined) {
          works.push(work);
          newProviders.push(names.of(number));
        } else if (changes !== undefined) names.noteKnown(number, changes);
      }
      const from = view.getUint32(at + SOURCE_NAME, true);
      if (from !== source && came > 0) {
        this.#countSource(came, { source, at: type, receivedMs, via });
        came = 0;
      }
      source = from;
      type = at;
      came++;
    }
    this.#countSource(came, { source, at: type, receivedMs, via });
    scanned?.({ records: scanner, start, end, receivedMs, newProviders, nameOf: names.of, homeOf: names.homeOf });
    return works;
  }

  /** Registers the provider of a scanned location. Returns a promise if it must be created. */
  #register(number: number, type: ProviderType): Promise<void> | undefined {
    const { ensureProvider, located, homeOf } = this.#options;
    const names = this.#names;
    const id = names.of(number);
    const work = ensureProvider(id, type);
    located?.(id);
    names.noteHome(number, homeOf?.(id) ?? 0);
    return work;
  }

  #countSource(
    count: number,
    { source, at, receivedMs, via }: { source: number; at: number; receivedMs: number; via: IngressPath },
  ): void {
    const scanner = this.#scanner;
    const names = this.#names;
    this.#options.countConsecutive?.(count, {
      source: names.of(source),
      providerType: recordType(scanner, at),
      receivedMs,
      via,
    });
  }

  /** Whether a provider was created with its UUID in another case. */
  // hot
  #hasOtherCase(changes: number | undefined): boolean {
    const scanner = this.#scanner;
    const names = this.#names;
    for (let at = scanner.start; at < scanner.end; at += recordSize(scanner, at)) {
      const number = scanner.view.getUint32(at + PROVIDER_NAME, true);
      if (changes !== undefined && names.isKnown(number, changes)) continue;
      const id = names.of(number);
      if (this.#options.providerId(id) !== id) return true;
    }
    return false;
  }
}

import type { QueryResult, Query } from '../../core/item.ts';
import type { AcceptedLocation } from '../../core/location/accepted.ts';
import {
  PROVIDER_NAME,
  type RecordBuffer,
  recordBytesMax,
  recordSize,
  SOURCE_NAME,
  stampRecord,
  writeRecord,
} from '../../core/location/record.ts';
import type { ScannedBody } from '../../core/location/scanned_body.ts';
import { newRecordBuffer, type LocationTimes } from '../../wire/location_record.ts';
import type { OwnerClient } from '../rpc/owner_client.ts';

const BUFFER_BYTES = 1 << 14;
/** Most records of a scanned body in one run: each may name another source, and source indexes have 16 bits. */
const RUN_MAX = 8192;
const WGS84 = 'EPSG:4326';

/** Returned by `serverOf` for records that are not for other hubs. */
export const HERE = null;

/**
 * Shards of all owners, in the interface that ingest and the API use: input goes through the router. Times are wall-clock
 * times.
 */
export class RemoteShards {
  readonly #ownerClient: OwnerClient;
  #buffer: RecordBuffer = newRecordBuffer(BUFFER_BYTES);
  /** Source and crs of the last location: most have the same. */
  #names: readonly [source: string, crs: string] = ['', WGS84];

  constructor(router: OwnerClient) {
    this.#ownerClient = router;
  }

  hasCapacity(count: number): boolean {
    return this.#ownerClient.hasCapacity(count);
  }

  /** See OwnerClient.isClear. */
  isClear(): boolean {
    return this.#ownerClient.isClear();
  }

  /** See OwnerClient.committed. */
  committed(): Promise<void> | undefined {
    return this.#ownerClient.committed();
  }

  /** Takes a checked location. Hot path. */
  location(location: AcceptedLocation, { generatedMs, receivedMs }: LocationTimes): void {
    const most = recordBytesMax(location);
    if (most > this.#buffer.bytes.length) this.#buffer = newRecordBuffer(most);
    const { source, crs } = location;
    if (this.#names[0] !== source || this.#names[1] !== crs) this.#names = [source, crs];
    const end = writeRecord(this.#buffer, 0, location, { seq: 0, receivedMs, generatedMs, source: 0, crs: 1 });
    this.#ownerClient.run({ names: this.#names, bytes: this.#buffer.bytes.subarray(0, end), count: 1 });
  }

  /**
   * Takes the locations of a scanned body, whose records are changed. `serverOf`: the hub that serves a provider, by the number
   * of its name; left out: looked up for each. Records for HERE are skipped. Hot path.
   */
  scanned({ records, start, end, nameOf }: ScannedBody, serverOf?: (name: number) => string | undefined | null): void {
    const serverAt = (at: number) => serverOf?.(records.view.getUint32(at + PROVIDER_NAME, true));
    for (let from = start; from < end; ) {
      const names = [WGS84];
      const indexes = new Map<number, number>();
      let [number, source] = [-1, 0];
      const stamped = (at: number): void => {
        const name = records.view.getUint32(at + SOURCE_NAME, true);
        if (name !== number) {
          number = name;
          source = indexes.get(name) ?? names.push(nameOf(name)) - 1;
          indexes.set(name, source);
        }
        stampRecord(records, at, { seq: 0, source, crs: 0 });
      };
      for (let left = RUN_MAX; left > 0 && from < end; ) {
        const server = serverAt(from);
        let [to, count] = [from, 0];
        do {
          const at = to;
          to += recordSize(records, at);
          count++;
          // Until then the record has the number of a name.
          if (server !== HERE) stamped(at);
        } while (count < left && to < end && serverAt(to) === server);
        left -= count;
        if (server !== HERE) {
          const run = { names, bytes: records.bytes.subarray(from, to), count };
          if (serverOf === undefined) this.#ownerClient.run(run);
          else this.#ownerClient.runTo(server, run);
        }
        from = to;
      }
    }
  }

  /** Deletes the location of a provider, at its owner. */
  forget(id: string): Promise<void> {
    return this.#ownerClient.forget([id]);
  }

  /** Deletes the locations of several providers. */
  forgetAll(ids: readonly string[]): Promise<void> {
    return this.#ownerClient.forget(ids);
  }

  ask(query: Query): Promise<readonly QueryResult[]> {
    return this.#ownerClient.ask(query);
  }

  settled(): Promise<void> {
    return this.#ownerClient.settled();
  }
}

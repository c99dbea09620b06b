import type { ProviderType } from '../../model/location.ts';
import { copyRecord, LocationRecord, type RecordBuffer, type RecordStamp } from './record.ts';

/**
 * A location in EPSG:4326 that was read from the bytes of a body: its record, which is good until the next body is read,
 * with its names as texts. It is called as an AcceptedLocation is.
 */
export class ScannedLocation extends LocationRecord {
  readonly provider_id: string;
  readonly source: string;

  constructor(records: RecordBuffer, at: number, names: { readonly provider_id: string; readonly source: string }) {
    super(records, at);
    this.provider_id = names.provider_id;
    this.source = names.source;
  }

  get provider_type(): ProviderType {
    return this.providerType;
  }

  /** Copies the record with what it lacks: the number of its item, and where its names are. Returns where it ends. */
  // hot
  copyTo(to: RecordBuffer, start: number, stamp: RecordStamp): number {
    return copyRecord(to, start, { from: this.buffer, at: this.at, stamp });
  }
}

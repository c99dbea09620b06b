import type { RejectedMessage } from './messages.ts';

/**
 * Acknowledgments of QoS 1 messages. A message is acknowledged once the hub has accepted its batch. Acknowledgments are
 * sent in the order of arrival, as MQTT 5 requires (section 4.6).
 *
 *     begin ── waiting ── taken ──▶ bytes, as soon as all earlier batches are accepted
 *     reset: the connection is closed; the broker redelivers all waiting messages
 */
export class Acks {
  readonly #batches: Batch[] = [];

  /** Registers a batch. `ids` are the packet ids of its messages, 0 for QoS 0. */
  begin(number: number, ids: readonly number[]): void {
    this.#batches.push({ number, ids, refused: undefined });
  }

  /** Records that the hub has accepted a batch. Returns the PUBACK packets that can be sent now; may be empty. */
  taken(number: number, refused: readonly RejectedMessage[]): Uint8Array {
    const batch = this.#batches.find((each) => each.number === number);
    // The batch belongs to a closed connection.
    if (batch === undefined) return new Uint8Array();
    batch.refused = refused;
    const taken: Taken[] = [];
    while (this.#batches[0]?.refused !== undefined) taken.push(this.#batches.shift() as Taken);
    const packets = Buffer.allocUnsafe(PUBACK_BYTES_MAX * taken.reduce((sum, { ids }) => sum + ids.length, 0));
    return packets.subarray(
      0,
      taken.reduce((at, each) => writePackets(packets, at, each), 0),
    );
  }

  /** Number of messages that wait to be accepted. */
  get waiting(): number {
    return this.#batches.reduce((sum, { ids }) => sum + ids.length, 0);
  }

  reset(): void {
    this.#batches.length = 0;
  }
}

interface Batch {
  readonly number: number;
  readonly ids: readonly number[];
  /** Rejected messages; undefined until the batch is accepted. */
  refused: readonly RejectedMessage[] | undefined;
}

type Taken = Batch & { readonly refused: readonly RejectedMessage[] };

const PUBACK = 0x40;
/** Size of a PUBACK with a reason code. */
const PUBACK_BYTES_MAX = 5;

/** Writes the packets of a batch; returns the end offset. hot */
function writePackets(packets: Buffer, from: number, { ids, refused }: Taken): number {
  const codes = refused.length === 0 ? undefined : new Map(refused);
  let at = from;
  for (let place = 0; place < ids.length; place++) {
    const id = ids[place] as number;
    if (id === 0) continue;
    const code = codes?.get(place);
    packets[at++] = PUBACK;
    packets[at++] = code === undefined ? 2 : 3;
    packets[at++] = id >> 8;
    packets[at++] = id & 0xff;
    if (code !== undefined) packets[at++] = code;
  }
  return at;
}

import type { Refused } from './messages.ts';

/**
 * Which messages of QoS 1 are acknowledged when. A message is acknowledged once the hub has taken its batch, and in the
 * order in which they came, as MQTT 5 demands (section 4.6).
 *
 *     begin ── waiting ── taken ──▶ bytes, as soon as all batches before it are taken
 *     reset: the connection is gone, and so are all that wait; the broker sends them again
 */
export class Acks {
  readonly #batches: Batch[] = [];

  /** Notes a batch: the packet ids of its messages, 0 for those of QoS 0. */
  begin(number: number, ids: readonly number[]): void {
    this.#batches.push({ number, ids, refused: undefined });
  }

  /** Notes that a batch was taken. Returns the PUBACK packets that can be sent now; empty where there are none. */
  taken(number: number, refused: readonly Refused[]): Uint8Array {
    const batch = this.#batches.find((each) => each.number === number);
    // One of a connection that is gone.
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

  /** Messages that wait to be taken. */
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
  /** Undefined until it is taken. */
  refused: readonly Refused[] | undefined;
}

type Taken = Batch & { readonly refused: readonly Refused[] };

const PUBACK = 0x40;
/** With a reason code. */
const PUBACK_BYTES_MAX = 5;

/** Writes the packets of a batch; returns where they end. hot */
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

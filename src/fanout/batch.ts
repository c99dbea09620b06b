/**
 * Longest frame in bytes: a widespread client refuses more. The envelope around the payload is given 128 of them; the
 * longest, with the longest topic and a 16-digit subscription id, has 96.
 */
export const FRAME_MAX_BYTES = 32_768;
export const PAYLOAD_MAX_BYTES = FRAME_MAX_BYTES - 128;

/** Elements of a payload, joined: what stands between the brackets of one frame. */
export interface Payload {
  readonly text: string;
  readonly bytes: number;
}

/**
 * The events that one publish has for a subscription, as JSON texts in order. Subscriptions with the same events share
 * one Batch, so that they are joined once, however many subscribers there are.
 */
export class Batch {
  readonly texts: readonly string[];
  #payloads: readonly Payload[] | undefined;

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }

  /** The texts joined to payloads of at most PAYLOAD_MAX_BYTES. A longer text is a payload of its own. */
  payloads(): readonly Payload[] {
    this.#payloads ??= join(this.texts);
    return this.#payloads;
  }
}

/** hot: once per batch and distinct list of events. */
function join(texts: readonly string[]): readonly Payload[] {
  const payloads: Payload[] = [];
  let first = 0;
  let bytes = 0;
  for (let i = 0; i < texts.length; i++) {
    const textBytes = Buffer.byteLength(texts[i]!);
    if (i > first && bytes + 1 + textBytes > PAYLOAD_MAX_BYTES) {
      payloads.push({ text: texts.slice(first, i).join(','), bytes });
      first = i;
      bytes = 0;
    }
    bytes += i > first ? textBytes + 1 : textBytes;
  }
  if (first < texts.length) payloads.push({ text: texts.slice(first).join(','), bytes });
  return payloads;
}

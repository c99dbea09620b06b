import { refuseIfForbidden } from '../entities.ts';
import type { HubClient, HubReply } from '../hub_client.ts';
import type { RecordedFrame } from './recording.ts';

/** Outcome of the locations of a replay. sent = accepted + rejected. */
export interface DeliveryTally {
  sent: number;
  accepted: number;
  rejected: number;
}

export interface Delivery {
  readonly tally: DeliveryTally;
  /** Called with the first rejections, as text. */
  onRejection(text: string): void;
}

const REJECTIONS_SHOWN = 5;
const PATH = '/providers/locations';

/**
 * Sends a batch. The hub accepts a batch as a whole or not at all; the locations of a rejected batch are sent one by
 * one, so that the valid ones arrive and the invalid ones are identified.
 */
export async function deliver(
  client: HubClient,
  { batch, tally, onRejection }: Delivery & { batch: readonly RecordedFrame[] },
): Promise<void> {
  if (await accepts(client, batch)) {
    tally.sent += batch.length;
    tally.accepted += batch.length;
    return;
  }
  for (const recorded of batch) {
    const reply = await put(client, [recorded]);
    tally.sent += 1;
    if (reply.ok) {
      tally.accepted += 1;
      continue;
    }
    tally.rejected += 1;
    if (tally.rejected <= REJECTIONS_SHOWN) onRejection(`line ${recorded.line}: ${reply.status} ${reply.message}`);
  }
}

async function accepts(client: HubClient, batch: readonly RecordedFrame[]): Promise<boolean> {
  return batch.length > 1 && (await put(client, batch)).ok;
}

async function put(client: HubClient, batch: readonly RecordedFrame[]): Promise<HubReply> {
  const locations = batch.map(({ location }) => location);
  const reply = await client.send('PUT', PATH, locations);
  refuseIfForbidden(reply.status, reply.message);
  return reply;
}

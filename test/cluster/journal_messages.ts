import { RecordsMessage } from '../../src/cluster/journal/journal_message.ts';

/** A message of a journal with records, in its own memory. */
export function recordsMessage(number: number, records: readonly Uint8Array[]): Uint8Array {
  const message = new RecordsMessage();
  for (const record of records) message.add([record], record.length);
  return Uint8Array.from(message.bytes(number));
}

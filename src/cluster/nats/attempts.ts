import { type Append, type Appended, type Bus, BusBusyError, BusError, type StoredMessage } from './bus.ts';

/** Result of an append, or of a replacement; `busy` if the queue of the bus is full. */
export async function tried(appending: Promise<Appended>): Promise<Appended | { readonly at: 'busy' }> {
  try {
    return await appending;
  } catch (error) {
    if (error instanceof BusBusyError) return { at: 'busy' };
    throw error;
  }
}

/** Last message of a subject; undefined if it has none, `nothing` if it cannot be read. */
export async function lastOf(
  bus: Bus,
  { stream, subject }: Pick<Append, 'stream' | 'subject'>,
): Promise<StoredMessage | undefined | 'nothing'> {
  try {
    return await bus.last(stream, subject);
  } catch (error) {
    if (error instanceof BusError) return 'nothing';
    throw error;
  }
}

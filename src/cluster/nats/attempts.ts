import { type Append, type Appended, type Bus, BusBusyError, BusError, type StoredMessage } from './bus.ts';

/** Resolves to the outcome of an append or a replacement; `busy` if the queue of the bus is full. */
export async function tried(appending: Promise<Appended>): Promise<Appended | { readonly at: 'busy' }> {
  try {
    return await appending;
  } catch (error) {
    if (error instanceof BusBusyError) return { at: 'busy' };
    throw error;
  }
}

/** Resolves to the last message of a subject: undefined if there is none, `nothing` if the bus cannot read it. */
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

import { copied } from '../../model/borrowed.ts';
import { isCount } from '../messages/codec.ts';
import type { Bus } from '../nats/bus.ts';
import { journalMessage } from './journal_message.ts';
import type { JournalSubjects } from './journal_streams.ts';

/** Position of consecutive messages of a journal. */
export interface JournalRange {
  /** Number of the first message, and of the first one behind the range. */
  readonly from: number;
  readonly before: number;
  /** In streams A and B: sequence of the first message from that number on, or 0. */
  readonly sequences: readonly [number, number];
}

/** Whether an answer of another hub is the position of messages. */
export function isRange(value: unknown): value is JournalRange {
  const { from, before, sequences } = (value ?? {}) as Partial<JournalRange>;
  const all: readonly unknown[] = Array.isArray(sequences) ? [from, before, ...sequences] : [];
  return all.length === 4 && all.every(isCount);
}

export const NO_MESSAGES: JournalRange = { from: 0, before: 0, sequences: [0, 0] };
/** All messages of a journal. */
const WHOLE: JournalRange = { from: 0, before: Number.POSITIVE_INFINITY, sequences: [1, 1] };

/** Contents of a journal: the records of its messages, by number, merged from both streams up to their seals. */
export interface JournalContents {
  readonly messages: ReadonlyMap<number, readonly Uint8Array[]>;
  /** Whether both streams are sealed, so that the contents are final. */
  readonly isSealed: boolean;
}

/**
 * Reads messages of a journal, which may still be written to. Messages may be missing: a server that lags behind does not have
 * the last ones yet. Rejects with a BusError if its streams cannot be read, and with a JournalFormatError for malformed contents.
 */
export async function readJournal(
  bus: Bus,
  subjects: JournalSubjects,
  { from, before, sequences }: JournalRange = WHOLE,
): Promise<JournalContents> {
  const messages = new Map<number, readonly Uint8Array[]>();
  let seals = 0;
  for (const [index, { stream, subject }] of subjects.entries()) {
    const fromSequence = sequences[index] as number;
    if (fromSequence === 0 || from >= before) continue;
    const reader = bus.read(stream, { subjects: [subject], fromSequence });
    let isOver = false;
    try {
      for (let isMore = true; isMore && !isOver; ) {
        isMore = await reader.next(({ bytes }) => {
          if (isOver) return;
          const message = journalMessage(copied(bytes));
          if (message.kind === 'seal') seals++;
          isOver = message.kind === 'seal' || message.number >= before;
          if (message.kind === 'seal' || isOver || message.number < from) return;
          if (!messages.has(message.number)) messages.set(message.number, message.records);
        });
      }
    } finally {
      reader.end();
    }
  }
  return { messages, isSealed: seals === subjects.length };
}

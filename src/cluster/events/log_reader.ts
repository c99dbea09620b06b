import type { EventBlock } from '../../core/entity_write.ts';
import type { EventLogStore } from '../../events/event_log.ts';
import { copied } from '../../model/borrowed.ts';
import type { ClusterContext } from '../context.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import type { Subscription } from '../nats/bus.ts';
import { type LogMessage, type LoggedSoFar, readLogMessage } from './log_message.ts';
import { eventStream, eventSubject } from './log_stream.ts';

/** Positions of a message: those of its events end with the last one. */
export const MESSAGE_POSITIONS = 2 ** 16;

/** Extent of the stored log. */
export interface StreamExtent {
  /** Position of the last event. */
  readonly newest: number;
  /** Position before the first event. */
  readonly trimmed: number;
  readonly bytes: number;
}

/** Follower of the log. */
export interface LogFollower {
  /** Takes each further message, in order. */
  take(block: EventBlock, message: LoggedSoFar & { readonly writer: string }): void;
}

/**
 * Reads the event log of the cluster. The position of an event is that of its message in the stream, times
 * MESSAGE_POSITIONS, plus its place there: so a cursor means the same at each hub.
 */
export class EventStreamReader implements EventLogStore {
  readonly #context: Pick<ClusterContext, 'bus' | 'name' | 'schedule'>;
  readonly #malformed: ProtocolErrors;
  /** The messages that were read last. */
  #batch: readonly EventBlock[] = [];

  constructor(context: Pick<ClusterContext, 'bus' | 'name' | 'schedule' | 'notice'>) {
    this.#context = context;
    this.#malformed = new ProtocolErrors('events in the log', context.notice);
  }

  /** Undefined while the stream has no leader. */
  async extent(): Promise<StreamExtent | undefined> {
    const { bus, name } = this.#context;
    const stream = eventStream(name);
    const found = (await bus.streams(stream, eventSubject(name))).find((each) => each.name === stream);
    if (found === undefined) return undefined;
    const { firstSequence, lastSequence, bytes } = found;
    // Of a new stream both are 0.
    return { newest: endOf(lastSequence), trimmed: endOf(Math.max(1, firstSequence) - 1), bytes };
  }

  /** Time of the oldest event; undefined without one. */
  async oldestMs({ newest, trimmed }: StreamExtent): Promise<number | undefined> {
    return trimmed < newest ? (await this.#message(sequenceAfter(trimmed)))?.timeMs : undefined;
  }

  follow(after: number, { take }: LogFollower): Subscription {
    const { bus, name } = this.#context;
    const selection = { subjects: [eventSubject(name)], fromSequence: sequenceAfter(after) };
    const prefix = eventSubject(name, '').length;
    return bus.follow(eventStream(name), selection, ({ bytes, sequence, subject }) => {
      const message = this.#malformed.reading(() => readLogMessage(copied(bytes)));
      if (message !== undefined) take(blockOf(message, sequence), { ...message, writer: subject.slice(prefix) });
    });
  }

  async read(after: number, bytesMax: number): ReturnType<EventLogStore['read']> {
    const from = sequenceAfter(after);
    const isNext = (block: EventBlock): boolean => sequenceOf(block) === from;
    if (!this.#batch.some(isNext)) this.#batch = await this.#readFrom(from);
    const [head] = this.#batch;
    if (head === undefined) return { blocks: [], trimmed: (await this.extent())?.trimmed ?? 0 };
    const at = this.#batch.findIndex(isNext);
    if (at < 0) return { blocks: [], trimmed: head.lostTo ?? endOf(sequenceOf(head) - 1) };
    const blocks: EventBlock[] = [];
    let size = 0;
    for (const block of this.#batch.slice(at)) {
      // A later page begins at a gap, and reports it.
      const isGap = block.lostTo !== undefined || sequenceOf(block) !== from + blocks.length;
      if (size >= bytesMax || (blocks.length > 0 && isGap)) break;
      blocks.push(block);
      size += block.bytes.length;
    }
    return { blocks, trimmed: blocks[0]?.lostTo ?? 0 };
  }

  /** Some messages from a sequence on: a reader usually asks for the next ones soon. */
  async #readFrom(fromSequence: number): Promise<readonly EventBlock[]> {
    const { bus, name } = this.#context;
    const reader = bus.read(eventStream(name), { subjects: [eventSubject(name)], fromSequence });
    const blocks: EventBlock[] = [];
    try {
      await reader.next(({ bytes, sequence }) => {
        const message = this.#malformed.reading(() => readLogMessage(copied(bytes)));
        if (message !== undefined) blocks.push(blockOf(message, sequence));
      });
      return blocks;
    } finally {
      reader.end();
    }
  }

  async positionAt(timeMs: number): Promise<number> {
    const extent = await this.extent();
    if (extent === undefined) throw new Error('The event log has no leader');
    // The first message that is not older, by binary search.
    let [low, high] = [sequenceAfter(extent.trimmed), sequenceAfter(extent.newest)];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const message = await this.#message(middle);
      if (message === undefined || message.timeMs < timeMs) low = middle + 1;
      else high = middle;
    }
    return endOf(low - 1);
  }

  async #message(sequence: number): Promise<LogMessage | undefined> {
    const { bus, name } = this.#context;
    const found = await bus.message(eventStream(name), sequence);
    return found && this.#malformed.reading(() => readLogMessage(found.bytes));
  }
}

/** Position of the last event of a message. */
function endOf(sequence: number): number {
  return (sequence + 1) * MESSAGE_POSITIONS - 1;
}

/** Sequence of the message with the first event after a position. */
function sequenceAfter(position: number): number {
  return Math.floor((position + 1) / MESSAGE_POSITIONS);
}

function sequenceOf({ first }: EventBlock): number {
  return Math.floor(first / MESSAGE_POSITIONS);
}

function blockOf({ events: { count, bytes }, timeMs, hasLost }: LogMessage, sequence: number): EventBlock {
  const first = endOf(sequence) - count + 1;
  return { first, count, timeMs, bytes, ...(hasLost && { lostTo: endOf(sequence - 1) + 1 }) };
}

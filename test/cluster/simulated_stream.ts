import type { Appended, Expectation, StoredMessage, StreamSettings, StreamState } from '../../src/cluster/nats/bus.ts';

/** Overhead of a message. */
const MESSAGE_BYTES = 50;

/** In a pattern that may fit other subjects than itself. */
const WILD = /[*>]/;

export interface Entry {
  readonly subject: string;
  readonly messages: readonly Uint8Array[];
  readonly expects?: Expectation;
  /** Whether it replaces all messages of the subject. */
  readonly replaces: boolean;
}

/** The messages of a stream, in order, as its servers have agreed on them. */
export class SimulatedStream {
  settings: StreamSettings;
  readonly #nowMs: () => number;
  #messages: StoredMessage[] = [];
  /** Time of each message, by its sequence. */
  readonly #times = new Map<number, number>();
  #last = 0;
  #bytes = 0;

  constructor(settings: StreamSettings, nowMs: () => number) {
    this.settings = settings;
    this.#nowMs = nowMs;
  }

  get state(): StreamState {
    const messages = this.#committed();
    return {
      ...this.settings,
      firstSequence: messages[0]?.sequence ?? this.#last + 1,
      lastSequence: this.#last,
      messages: messages.length,
      bytes: this.#bytes,
    };
  }

  append({ subject, messages, expects, replaces }: Entry): Appended {
    if (expects !== undefined && this.#found(subject, expects) !== expected(expects)) return { at: 'refused' };
    const bytes = messages.reduce((sum, message) => sum + message.length + MESSAGE_BYTES, 0);
    const { bytesMax = Infinity, dropsOldest } = this.settings;
    if (this.#bytes + bytes > bytesMax && dropsOldest !== true) return { at: 'full' };
    if (replaces) this.#keep((message) => message.subject !== subject);
    const atMs = this.#nowMs();
    for (const message of messages) {
      this.#messages.push({ subject, sequence: ++this.#last, bytes: message });
      this.#times.set(this.#last, atMs);
    }
    this.#bytes += bytes;
    while (this.#bytes > bytesMax) {
      const oldest = this.#messages[0]?.sequence;
      this.#keep(({ sequence }) => sequence !== oldest);
    }
    return { at: 'committed', sequence: this.#last };
  }

  last(subjects: readonly string[]): StoredMessage | undefined {
    const kept = this.#committed();
    const [only = ''] = subjects;
    if (subjects.length > 1 || WILD.test(only)) return kept.findLast(({ subject }) => fits(subjects, subject));
    return kept.findLast(({ subject }) => subject === only);
  }

  /** The first message from a sequence on. */
  first(subjects: readonly string[], fromSequence: number): StoredMessage | undefined {
    const kept = this.#committed();
    // Messages are ordered by sequence: find the first by binary search.
    let [low, high] = [0, kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((kept[middle]?.sequence ?? 0) < fromSequence) low = middle + 1;
      else high = middle;
    }
    for (; low < kept.length; low++) if (fits(subjects, kept[low]?.subject ?? '')) return kept[low];
    return undefined;
  }

  purge(pattern: string, beforeSequence = Infinity): void {
    this.#keep(({ subject, sequence }) => sequence >= beforeSequence || !fits([pattern], subject));
  }

  #found(subject: string, expects: Expectation): number {
    return 'lastOfStream' in expects ? this.#last : (this.last([subject])?.sequence ?? 0);
  }

  #committed(): readonly StoredMessage[] {
    const { ageMaxMs = Infinity } = this.settings;
    const fromMs = this.#nowMs() - ageMaxMs;
    const isOld = ({ sequence }: StoredMessage): boolean => (this.#times.get(sequence) ?? 0) < fromMs;
    if (this.#messages[0] !== undefined && isOld(this.#messages[0])) this.#keep((message) => !isOld(message));
    return this.#messages;
  }

  #keep(isCommitted: (message: StoredMessage) => boolean): void {
    this.#messages = this.#messages.filter(isCommitted);
    this.#bytes = this.#messages.reduce((sum, { bytes }) => sum + bytes.length + MESSAGE_BYTES, 0);
  }
}

function expected(expects: Expectation): number {
  return 'lastOfStream' in expects ? expects.lastOfStream : expects.lastOfSubject;
}

/** Whether one of the patterns matches: `*` stands for any token, and `>` at the end for one or more. */
export function fits(patterns: readonly string[], subject: string): boolean {
  if (patterns.includes(subject)) return true;
  if (!patterns.some((pattern) => WILD.test(pattern))) return false;
  const tokens = subject.split('.');
  return patterns.some((pattern) => {
    const wanted = pattern.split('.');
    const isOpen = wanted.at(-1) === '>';
    if (isOpen ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
    return wanted.every(
      (token, index) => token === '*' || token === tokens[index] || (isOpen && index === wanted.length - 1),
    );
  });
}

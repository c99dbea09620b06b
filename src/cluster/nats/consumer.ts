import { schedule } from '../../time/clock.ts';
import type { ServerConnection, Received } from './connection.ts';
import type { Replies, BusReply } from './replies.ts';

/** Most messages of one pull. */
const PULL_MESSAGES = 512;
const PULL_BYTES = 9_000_000;
const FOLLOW_MS = 30_000;
const HEARTBEAT_MS = 500;
/** Silence after which a consumer is replaced. */
const SILENT_MS = 2000;
const ASK_MS = 1000;
const PAUSE_MS = 250;
/** Time after which the server deletes a consumer without pulls. */
const FORGOTTEN_MS = 30_000;
const NANOSECONDS = 1_000_000;
const NO_MESSAGE = 10037;

export interface ConsumerOptions {
  readonly stream: string;
  readonly subjects: readonly string[];
  readonly fromSequence: number;
  /**
   * Whether it reads batches on request, up to the end of the stream at the time of the first request. Otherwise it follows the
   * stream until it is closed.
   */
  readonly isRead: boolean;
  /** Prefix of subjects that messages can be delivered to. */
  readonly inbox: string;
  newName(): string;
  elapsed(): number;
}

/** Events of a consumer. */
export interface ConsumerWatch {
  message(message: Received, sequence: number): void;
  /** Called once, when the server has the first consumer: nothing is missed from here on. */
  ready(): void;
  /** A batch has ended; `isLast` if it reached the end. */
  batchEnd(isLast: boolean): void;
  failed(why: string): void;
}

/**
 * Reads a stream through a consumer at the server, which sends messages when they are pulled. Such a consumer lasts only as
 * long as the connection: whenever a message is missing, the connection was lost or the consumer falls silent, it is replaced
 * by one that begins after the last delivered message. So no message is lost, and none is delivered twice.
 */
export class Consumer {
  readonly #connection: ServerConnection;
  readonly #replies: Replies;
  readonly #options: ConsumerOptions;
  readonly #watch: ConsumerWatch;
  /** First sequence that was not delivered yet. */
  #next: number;
  /** Last sequence to read; 0 while that is unknown. */
  #end = Infinity;
  #name = '';
  /** Closes the subscription to its messages. */
  #deaf: (() => void) | undefined;
  /** Number of messages that the server has sent from this consumer, by its own count. */
  #sent = 0;
  /** Number of the current pull. */
  #pull = 0;
  /** Number of messages that are still to come of it. */
  #pulled = 0;
  #lastReceivedMs = 0;
  #isReady = false;
  #isEnded = false;
  /** Time at which the requested batch times out; 0 while none is requested. */
  #untilMs = 0;
  #isWatched = false;

  constructor(
    deps: { connection: ServerConnection; replies: Replies },
    options: ConsumerOptions,
    watch: ConsumerWatch,
  ) {
    this.#connection = deps.connection;
    this.#replies = deps.replies;
    this.#options = options;
    this.#watch = watch;
    this.#next = Math.max(1, options.fromSequence);
    if (options.isRead) this.#end = 0;
    else this.#make();
  }

  /** Requests the next batch. */
  readOn(timeoutMs: number): void {
    this.#untilMs = this.#options.elapsed() + timeoutMs;
    this.#watchLater();
    if (this.#end === 0) this.#findEnd();
    else if (this.#name === '') this.#make();
    else this.#pullOn();
  }

  /** Reports a restored connection. */
  up(): void {
    if (this.#name !== '') this.#make();
  }

  end(): void {
    this.#isEnded = true;
    this.#drop();
  }

  /**
   * Queries the leader for the last message of each subject, which is where reading ends. Repeats the query when a pull brings
   * nothing, since messages that are purged in the meantime never arrive.
   */
  #findEnd(): void {
    const { stream, subjects } = this.#options;
    let open = subjects.length;
    let last = 0;
    let problem: JetStreamError | undefined;
    for (const subject of subjects) {
      this.#ask(`STREAM.MSG.GET.${stream}`, { last_by_subj: subject }, (answer) => {
        const { message, error } = answer as { message?: { seq: number }; error?: JetStreamError };
        if (message !== undefined) last = Math.max(last, message.seq);
        else if (error?.err_code !== NO_MESSAGE) problem = error;
        if (--open > 0 || this.#isEnded || this.#untilMs === 0) return;
        if (problem === undefined) this.#startReading(last);
        else if (problem.code < 500) this.#fail(problem.description);
        else schedule(PAUSE_MS, () => this.#untilMs > 0 && this.#findEnd());
      });
    }
  }

  #startReading(last: number): void {
    this.#end = this.#end === 0 ? last : Math.min(this.#end, last);
    if (this.#end < this.#next) this.#finish(true);
    else this.#make();
  }

  #make(): void {
    this.#drop();
    const { stream, subjects, newName, elapsed } = this.#options;
    const name = newName();
    this.#name = name;
    this.#sent = 0;
    this.#lastReceivedMs = elapsed();
    this.#deaf = this.#connection.subscribe(this.#inbox('*'), (message) => this.#take(message));
    this.#watchLater();
    const config = {
      name,
      ack_policy: 'none',
      deliver_policy: 'by_start_sequence',
      opt_start_seq: this.#next,
      filter_subjects: subjects,
      inactive_threshold: FORGOTTEN_MS * NANOSECONDS,
      mem_storage: true,
      num_replicas: 1,
    };
    const asked = { stream_name: stream, config, action: 'create' };
    this.#ask(`CONSUMER.CREATE.${stream}.${name}`, asked, (answer) => {
      if (this.#name !== name || this.#isEnded) return;
      const { error } = answer as { error?: JetStreamError };
      if (error !== undefined) {
        this.#drop();
        schedule(PAUSE_MS, () => !this.#isEnded && this.#name === '' && this.#make());
      } else this.#made();
    });
  }

  #made(): void {
    if (!this.#isReady) this.#watch.ready();
    this.#isReady = true;
    if (!this.#options.isRead || this.#untilMs > 0) this.#pullOn();
  }

  /** Subject for the answers to a pull. Messages arrive with their own subjects nevertheless, statuses with this one. */
  #inbox(pull: number | '*'): string {
    return `${this.#options.inbox}.${this.#name}.${pull}`;
  }

  #pullOn(): void {
    const { stream, isRead, elapsed } = this.#options;
    this.#pulled = PULL_MESSAGES;
    this.#lastReceivedMs = elapsed();
    // A reader wants existing messages: those up to the end that were purged meanwhile never arrive.
    const wait = isRead
      ? { no_wait: true }
      : { expires: FOLLOW_MS * NANOSECONDS, idle_heartbeat: HEARTBEAT_MS * NANOSECONDS };
    const pull = { batch: PULL_MESSAGES, max_bytes: PULL_BYTES, ...wait };
    this.#connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`,
      json(pull),
      this.#inbox(++this.#pull),
    );
  }

  #take(message: Received): void {
    this.#lastReceivedMs = this.#options.elapsed();
    if (message.code !== 0) this.#takeStatus(message);
    else this.#takeMessage(message);
  }

  #takeMessage(message: Received): void {
    // Without a pending request the message is dropped. The next one that counts is out of sequence, and replaces the consumer.
    if (this.#options.isRead && this.#untilMs === 0) return;
    const { sequence, count } = placeOf(message.reply);
    if (count !== this.#sent + 1) {
      this.#make();
      return;
    }
    this.#sent = count;
    this.#pulled--;
    if (sequence > this.#end) {
      this.#finish(true);
      return;
    }
    if (sequence >= this.#next) {
      this.#next = sequence + 1;
      this.#watch.message(message, sequence);
    }
    if (sequence === this.#end) this.#finish(true);
    else if (this.#pulled === 0) this.#pullEnd();
  }

  #takeStatus({ subject, code, description, header }: Received): void {
    if (code === 100) {
      const sent = header('Nats-Last-Consumer');
      if (sent !== '' && Number(sent) !== this.#sent) this.#make();
      return;
    }
    if (subject !== this.#inbox(this.#pull)) return;
    if (code === 404 || code === 408 || /max_?bytes|batch completed/i.test(description)) this.#pullEnd();
    else schedule(PAUSE_MS, () => !this.#isEnded && this.#make());
  }

  /** Also called before the server says so: a pull that has brought all its messages is still followed by a status. */
  #pullEnd(): void {
    this.#pull++;
    if (!this.#options.isRead) this.#pullOn();
    else if (this.#pulled < PULL_MESSAGES) this.#finish(false);
    else this.#findEnd();
  }

  #finish(isLast: boolean): void {
    this.#untilMs = 0;
    if (isLast) this.end();
    this.#watch.batchEnd(isLast);
  }

  #fail(why: string): void {
    this.#untilMs = 0;
    this.#drop();
    this.#watch.failed(why);
  }

  #drop(): void {
    if (this.#name === '') return;
    const { stream } = this.#options;
    this.#deaf?.();
    this.#connection.publish(`$JS.API.CONSUMER.DELETE.${stream}.${this.#name}`, NOTHING);
    this.#name = '';
  }

  #watchLater(): void {
    if (this.#isWatched || this.#isEnded) return;
    this.#isWatched = true;
    schedule(PAUSE_MS, () => {
      this.#isWatched = false;
      this.#look();
    });
  }

  #look(): void {
    const nowMs = this.#options.elapsed();
    if (this.#options.isRead && this.#untilMs === 0) return;
    if (this.#untilMs > 0 && this.#untilMs <= nowMs) {
      this.#fail('the stream does not answer in time');
      return;
    }
    if (this.#name !== '' && this.#connection.isUp && nowMs - this.#lastReceivedMs > SILENT_MS) this.#make();
    this.#watchLater();
  }

  #ask(api: string, question: object, done: (answer: object) => void): void {
    this.#replies.ask({
      timeoutMs: ASK_MS,
      retries: true,
      send: (reply) => this.#connection.publish(`$JS.API.${api}`, json(question), reply),
      done: (answer: BusReply) => done(parsed(answer)),
    });
  }
}

interface JetStreamError {
  /** As in HTTP: failures from 500 on may be temporary. */
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

const NOTHING = new Uint8Array(0);

/** Answer of the JetStream API, or an error without an answer. */
function parsed(answer: BusReply): object {
  if (typeof answer === 'object' && 'bytes' in answer)
    return JSON.parse(Buffer.from(answer.bytes).toString()) as object;
  const description = answer instanceof Error ? answer.message : 'no answer in time';
  return { error: { code: 504, err_code: 0, description } };
}

function json(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * Position in the subject for acknowledging a message: its sequence in the stream, and the number of messages the consumer has
 * sent including it. Newer servers add the domain and the account: $JS.ACK[.domain.account].stream.consumer.….
 */
function placeOf(reply: string): { sequence: number; count: number } {
  const tokens = reply.split('.');
  const first = tokens.length > 9 ? 7 : 5;
  return { sequence: Number(tokens[first]), count: Number(tokens[first + 1]) };
}

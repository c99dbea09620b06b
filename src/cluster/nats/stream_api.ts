import { look } from '../../model/borrowed.ts';
import { schedule } from '../../time/clock.ts';
import { type Bus, BusError, type StoredMessage, type StreamSettings, type StreamState } from './bus.ts';

/** Servers must agree before they create or delete a stream, which takes a while. */
const TIMEOUT_MS = 5000;
/**
 * Interval at which a read, or the creation of a stream, is requested again. A request about a stream without a leader, such as
 * one that another hub is just creating, is never answered, nor is a creation before the servers have elected a leader after
 * their start; a server that has lost the leader of the servers answers that JetStream is unavailable. The list of one stream
 * is answered at once if the stream has a leader, and otherwise after 4 s, even if it gets one in the meantime.
 */
const REPEAT_MS = 250;
const NANOSECONDS = 1_000_000;
const UNAVAILABLE = 10008;
const NO_STREAM = 10059;
const NO_MESSAGE = 10037;

/** Settings of a stream, by the server's names. */
interface Config {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly num_replicas: number;
  readonly storage: 'file' | 'memory';
  readonly max_bytes: number;
  readonly max_age: number;
  readonly discard: 'new' | 'old';
}

interface Found {
  readonly config: Config;
  readonly state: {
    readonly first_seq: number;
    readonly last_seq: number;
    readonly messages: number;
    readonly bytes: number;
  };
}

interface Problem {
  readonly err_code: number;
  readonly description: string;
}

/**
 * Rare operations on streams, through the JetStream API: JSON requests and answers in ordinary messages. All of them reject
 * with a BusError.
 */
export class StreamApi {
  readonly #bus: Pick<Bus, 'request'>;
  readonly #pause: (ms: number) => Promise<void>;

  constructor(
    bus: Pick<Bus, 'request'>,
    pause = (ms: number) => new Promise<void>((resolve) => void schedule(ms, resolve)),
  ) {
    this.#bus = bus;
    this.#pause = pause;
  }

  async make(settings: StreamSettings): Promise<void> {
    const what = `make stream "${settings.name}"`;
    await this.#ask(`STREAM.CREATE.${settings.name}`, configOf(settings), what, { isRepeated: true });
  }

  async alter(settings: StreamSettings): Promise<void> {
    await this.#ask(`STREAM.UPDATE.${settings.name}`, configOf(settings), `alter stream "${settings.name}"`);
  }

  async delete(name: string): Promise<boolean> {
    return (
      (await this.#ask(`STREAM.DELETE.${name}`, {}, `delete stream "${name}"`, { absent: NO_STREAM })) !== undefined
    );
  }

  async list(prefix: string, subject?: string): Promise<readonly StreamState[]> {
    const states: StreamState[] = [];
    for (let offset = 0; ; ) {
      const what = `list streams "${prefix}"`;
      const page = (await this.#ask('STREAM.LIST', { offset, subject }, what, {
        isRepeated: subject !== undefined,
      })) as {
        readonly total: number;
        readonly streams: readonly Found[] | null;
      };
      const found = page.streams ?? [];
      states.push(...found.filter(({ config }) => config.name.startsWith(prefix)).map(stateOf));
      offset += found.length;
      if (found.length === 0 || offset >= page.total) return states;
    }
  }

  last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.#message(stream, { last_by_subj: subject }, `read the last message of "${subject}"`);
  }

  message(stream: string, sequence: number): Promise<StoredMessage | undefined> {
    return this.#message(stream, { seq: sequence }, `read message ${sequence} of stream "${stream}"`);
  }

  async #message(stream: string, selection: object, what: string): Promise<StoredMessage | undefined> {
    const api = `STREAM.MSG.GET.${stream}`;
    const found = (await this.#ask(api, selection, what, { absent: NO_MESSAGE, isRepeated: true })) as
      | { readonly message: { readonly subject: string; readonly seq: number; readonly data?: string } }
      | undefined;
    if (found === undefined) return undefined;
    const { subject: its, seq: sequence, data = '' } = found.message;
    return { subject: its, sequence, bytes: Buffer.from(data, 'base64') };
  }

  async purge(stream: string, subject: string, beforeSequence: number | undefined): Promise<void> {
    const before = beforeSequence === undefined ? {} : { seq: beforeSequence };
    await this.#ask(`STREAM.PURGE.${stream}`, { filter: subject, ...before }, `purge "${subject}"`);
  }

  /** Answer to a request; undefined for the error code `absent`, which is not a failure. */
  async #ask(
    api: string,
    question: object,
    what: string,
    { absent, isRepeated = false }: { readonly absent?: number; readonly isRepeated?: boolean } = {},
  ): Promise<object | undefined> {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    for (let timeoutMs = TIMEOUT_MS; ; timeoutMs -= REPEAT_MS) {
      const answer = await this.#bus.request(`$JS.API.${api}`, bytes, {
        timeoutMs,
        ...(isRepeated && { repeatMs: REPEAT_MS }),
        read: (found) => JSON.parse(Buffer.from(look(found)).toString()) as { readonly error?: Problem },
      });
      if (answer.at === 'noResponders') throw new BusError(`Cannot ${what}: no server offers JetStream`);
      if (answer.at === 'unanswered') {
        throw new BusError(`Cannot ${what}: no server answered within ${TIMEOUT_MS} ms`);
      }
      const { error } = answer.value;
      if (error === undefined) return answer.value;
      if (error.err_code === absent) return undefined;
      if (error.err_code !== UNAVAILABLE || !isRepeated || timeoutMs <= REPEAT_MS) {
        throw new BusError(`Cannot ${what}: ${error.description}`);
      }
      await this.#pause(REPEAT_MS);
    }
  }
}

/**
 * A full stream must reject new messages, unless it drops old ones: the cluster itself removes these, once it no longer
 * needs them.
 */
function configOf({
  name,
  subjects,
  replicas,
  storage,
  bytesMax = -1,
  ageMaxMs = 0,
  dropsOldest,
}: StreamSettings): Config & object {
  return {
    name,
    subjects,
    storage,
    num_replicas: replicas,
    max_bytes: bytesMax,
    max_age: ageMaxMs * NANOSECONDS,
    discard: dropsOldest === true ? 'old' : 'new',
    ...{ retention: 'limits', allow_rollup_hdrs: true, allow_atomic: true, allow_direct: false },
  };
}

function stateOf({ config, state }: Found): StreamState {
  const { name, subjects, storage, num_replicas: replicas, max_bytes: bytesMax, max_age: age, discard } = config;
  return {
    ...{ name, subjects, storage, replicas },
    ...(bytesMax >= 0 && { bytesMax }),
    ...(age > 0 && { ageMaxMs: age / NANOSECONDS }),
    ...(discard === 'old' && { dropsOldest: true }),
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    messages: state.messages,
    bytes: state.bytes,
  };
}

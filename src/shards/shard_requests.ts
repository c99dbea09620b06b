import type { ExportedState, QueryResult } from '../core/item.ts';
import { hubError } from '../errors.ts';
import type { LaneItem } from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import type { LaneCommand } from './shard_commands.ts';

/** Answer to a request; undefined for a release. */
export type ShardAnswer = QueryResult | ExportedState | undefined;

/** Returns the command of a request with the given id. */
export type RequestWithId = (id: number) => LaneCommand;

interface PendingRequest {
  /** Whether the request rejects if there is no answer. Requests between shards resolve without one. */
  readonly mayFail: boolean;
  readonly resolve: (answer: ShardAnswer) => void;
  readonly reject: (error: Error) => void;
}

const NO_STATE: ExportedState = { providers: [], trackables: [] };
/** Requests between shards. */
const INTERNAL_REQUESTS: readonly LaneCommand['kind'][] = ['exportState', 'stand'];

/** Pending requests to shards, by id. Each settles with its answer, with an error, or without an answer. */
export class ShardRequests {
  readonly #pending = new Map<number, PendingRequest>();
  #last = 0;

  /** Creates a request and returns its command and its answer, which rejects with a HubError. */
  create(ask: RequestWithId): { readonly command: LaneCommand; readonly answer: Promise<ShardAnswer> } {
    this.#last++;
    const command = ask(this.#last);
    const { promise: answer, resolve, reject } = Promise.withResolvers<ShardAnswer>();
    this.#pending.set(this.#last, { mayFail: !INTERNAL_REQUESTS.includes(command.kind), resolve, reject });
    return { command, answer };
  }

  /** Resolves the requests that a step has answered. */
  end(reply: ShardReply): void {
    for (const [id, answer] of answersIn(reply)) this.#take(id)?.resolve(answer);
  }

  /** Settles the requests of a step whose outcome could not be committed. Transfers between shards continue. */
  withhold(reply: ShardReply, cause: unknown): void {
    for (const [id, answer] of answersIn(reply)) {
      const request = this.#take(id);
      if (request?.mayFail !== true) request?.resolve(answer);
      else request.reject(hubError('out_of_cluster', { operation: 'answer' }, { cause }));
    }
  }

  /** Settles the request of an item that a shard has dropped. */
  drop(item: LaneItem): void {
    const id = requestIdOf(item);
    if (id === undefined) return;
    const request = this.#take(id);
    if (request?.mayFail !== true) request?.resolve(NO_STATE);
    else request.reject(hubError('worker_failed', { operation: 'answer' }));
  }

  #take(id: number): PendingRequest | undefined {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    return request;
  }
}

/** Returns the answers of a step, by the ids of their requests. */
function answersIn({ outcome, released = [] }: ShardReply): (readonly [id: number, answer: ShardAnswer])[] {
  return [...outcome.answers, ...released.map(({ id }) => [id, undefined] as const)];
}

/** Returns the id of an item's request; undefined for any other item. */
function requestIdOf(item: LaneItem): number | undefined {
  switch (item.kind) {
    case 'read':
    case 'stand':
    case 'exportState':
    case 'release':
    case 'keep':
      return item.id;
    case 'adopt':
      return item.takenOver?.id;
    default:
      return undefined;
  }
}

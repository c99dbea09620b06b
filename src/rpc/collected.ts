import { problemOf } from '../problem.ts';
import { type RpcAnswer, failure, type RequestId } from './message.ts';

/**
 * Rules for when a call is complete and how it is answered.
 *
 *   collecting    is complete with                 and answers
 *   ------------  -------------------------------  -----------------------------------------------------------
 *   first         the first answer                 that answer
 *   firstSuccess  the first that is not an error   that answer; −32002 if all are errors
 *   firstError    the first error                  that answer; like `all` without one
 *   all           the last answer                  the answer of the only handler, or {"responses": [...]} of all
 *   list          the last answer                  a list of all responses
 *   stream        the last answer                  nothing: each answer was sent when it arrived
 *
 * A timeout completes every call. `all` and `list` then return the answers so far, if any; `stream` has already sent
 * them; all others return −32001, because the missing answers are unknown.
 */
export type Collecting = 'first' | 'firstSuccess' | 'firstError' | 'all' | 'list' | 'stream';

/** The answer of one handler. */
export interface HandlerAnswer {
  readonly handlerId: string;
  readonly answer: RpcAnswer;
}

/** State of a call in progress. */
export interface CallProgress {
  readonly method: string;
  /** Id of the request. */
  readonly id: RequestId;
  readonly collecting: Collecting;
  /** Answers in order of arrival. */
  readonly answers: readonly HandlerAnswer[];
  /** Number of called handlers, at least one. */
  readonly asked: number;
  readonly timeoutMs: number;
  readonly isTimeUp: boolean;
}

/**
 * Returns the final answer of a call; `streamed` if a stream has sent all answers; undefined while the call is not
 * complete.
 */
export function outcomeOf(progress: CallProgress): RpcAnswer | 'streamed' | undefined {
  const { collecting, answers, asked, isTimeUp } = progress;
  const decisive = answers.find(({ answer }) => decides(collecting, answer));
  if (decisive !== undefined) return decisive.answer;
  if (answers.length === asked) return complete(progress);
  if (!isTimeUp) return undefined;
  if (answers.length === 0) return timedOut(progress);
  if (collecting === 'all' || collecting === 'list') return complete(progress);
  return collecting === 'stream' ? 'streamed' : timedOut(progress);
}

function decides(collecting: Collecting, answer: RpcAnswer): boolean {
  if (collecting === 'first') return true;
  if (collecting === 'firstSuccess') return !('error' in answer);
  return collecting === 'firstError' && 'error' in answer;
}

function complete(progress: CallProgress): RpcAnswer | 'streamed' {
  const { method, collecting, answers, asked } = progress;
  if (collecting === 'stream') return 'streamed';
  if (collecting === 'list') return { result: responsesOf(progress) };
  if (collecting === 'firstSuccess') {
    const why = problemOf('no_success', { method, count: asked });
    return failure('noSuccess', why, { responses: responsesOf(progress) });
  }
  const [only] = answers;
  if (asked === 1 && only !== undefined) return only.answer;
  return { result: { responses: responsesOf(progress) } };
}

function timedOut(progress: CallProgress): RpcAnswer {
  const { method, answers, asked, timeoutMs } = progress;
  const why = problemOf('call_timeout', { method, count: answers.length, handlers: asked, limit: timeoutMs });
  return failure('timeout', why, answers.length === 0 ? {} : { responses: responsesOf(progress) });
}

/** Returns all responses, each with its handler. */
function responsesOf({ id, answers }: CallProgress): readonly object[] {
  return answers.map(({ handlerId, answer }) => ({ jsonrpc: '2.0', id, handler_id: handlerId, ...answer }));
}

import { type Answer, failure, type RequestId } from './message.ts';

/**
 * When a call is over, and with what. Pure: what has been collected so far goes in, what the caller is told comes out.
 *
 *   collecting    is over with                     and tells
 *   ------------  -------------------------------  -----------------------------------------------------------
 *   first         the first answer                 that answer
 *   firstSuccess  the first that is no error       that answer; −32002 where all are errors
 *   firstError    the first error                  that answer; as `all` where there is none
 *   all           the last answer                  the answer of the only handler, or {"responses": [...]} of all
 *   list          the last answer                  a list of all responses
 *   stream        the last answer                  nothing more: each was told when it came
 *
 * Time that is up ends every call. `all` and `list` then tell what has come, if anything; `stream` has told it; all else is
 * −32001, since it is not known what the others would have answered.
 */
export type Collecting = 'first' | 'firstSuccess' | 'firstError' | 'all' | 'list' | 'stream';

/** The answer of one handler. */
export interface Collected {
  readonly handlerId: string;
  readonly answer: Answer;
}

/** What is known of a call that is under way. */
export interface Standing {
  readonly method: string;
  /** Of the request. */
  readonly id: RequestId;
  readonly collecting: Collecting;
  /** In the order in which they came. */
  readonly answers: readonly Collected[];
  /** Handlers that were asked, one at least. */
  readonly asked: number;
  readonly timeoutMs: number;
  readonly isTimeUp: boolean;
}

/** What the caller is told at the end; `told`: it has been told everything. Undefined: the call is not over. */
export function outcomeOf(standing: Standing): Answer | 'told' | undefined {
  const { collecting, answers, asked, isTimeUp } = standing;
  const decisive = answers.find(({ answer }) => decides(collecting, answer));
  if (decisive !== undefined) return decisive.answer;
  if (answers.length === asked) return complete(standing);
  if (!isTimeUp) return undefined;
  if (answers.length === 0) return timedOut(standing);
  if (collecting === 'all' || collecting === 'list') return complete(standing);
  return collecting === 'stream' ? 'told' : timedOut(standing);
}

function decides(collecting: Collecting, answer: Answer): boolean {
  if (collecting === 'first') return true;
  if (collecting === 'firstSuccess') return !('error' in answer);
  return collecting === 'firstError' && 'error' in answer;
}

function complete(standing: Standing): Answer | 'told' {
  const { method, collecting, answers, asked } = standing;
  if (collecting === 'stream') return 'told';
  if (collecting === 'list') return { result: responsesOf(standing) };
  if (collecting === 'firstSuccess') {
    const why = `Cannot call "${method}" with success: all of ${asked} handlers have answered an error`;
    return failure('noSuccess', why, { responses: responsesOf(standing) });
  }
  const [only] = answers;
  if (asked === 1 && only !== undefined) return only.answer;
  return { result: { responses: responsesOf(standing) } };
}

function timedOut(standing: Standing): Answer {
  const { method, answers, asked, timeoutMs } = standing;
  const found = `${answers.length} of ${asked} handlers have answered within ${timeoutMs} ms`;
  const data = answers.length === 0 ? undefined : { responses: responsesOf(standing) };
  return failure('timeout', `Cannot finish the call of "${method}": ${found}`, data);
}

/** Complete responses, each with its handler. */
function responsesOf({ id, answers }: Standing): readonly object[] {
  return answers.map(({ handlerId, answer }) => ({ jsonrpc: '2.0', id, handler_id: handlerId, ...answer }));
}

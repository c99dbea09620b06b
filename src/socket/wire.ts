import type { HubError } from '../errors.ts';
import { show } from '../model/error_value_text.ts';
import { type Problem, problemOf } from '../problem.ts';
import type { ErrorReason } from '../reasons.ts';
import { parseJson, UnsupportedJson } from '../model/json.ts';
import { LongJson } from '../model/long_json.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { isObject } from '../model/json_tree.ts';

/** Frames of the WebSocket protocol. */

/** Codes of the errors that a client's frame can cause. */
export const WIRE_ERRORS = {
  unknownEvent: 10000,
  unknownTopic: 10001,
  subscribeFailed: 10002,
  unsubscribeFailed: 10003,
  notAuthorized: 10004,
  invalidPayload: 10005,
  notAuthenticated: 10006,
} as const;

/** Meanings of the errors, for the API documents. */
export const WIRE_ERROR_MEANINGS: Readonly<Record<WireError, string>> = {
  unknownEvent: 'The frame is not a JSON object, or its event is unknown.',
  unknownTopic: 'There is no such topic.',
  subscribeFailed: 'The params are invalid, or an equal subscription exists.',
  unsubscribeFailed: 'The connection has no such subscription.',
  notAuthorized: 'The token does not permit it, or the topic can only be read.',
  invalidPayload: 'The payload or some of its items are invalid; the description names them. The others are ingested.',
  notAuthenticated: 'A valid token is needed.',
};

export type WireError = keyof typeof WIRE_ERRORS;

/** Error of a command, answered with an error frame. The connection stays open. */
export class SocketCommandError extends Error {
  readonly error: WireError;
  readonly why: ErrorReason;

  constructor(error: WireError, why: Problem | HubError) {
    super(why instanceof Error ? why.message : String(why));
    this.name = 'SocketCommandError';
    this.error = error;
    this.why = why;
  }
}

/** A client's frame, of which only the event is validated. */
export interface ClientFrame {
  readonly event: string;
  readonly topic?: unknown;
  readonly subscription_id?: unknown;
  readonly payload?: unknown;
  readonly params?: unknown;
}

/** Length above which parsing a frame takes more than a few milliseconds. */
export const LONG_FRAME_CHARACTERS = 256 * 1024;

/** Parses a client's frame. Throws a SocketCommandError if it is not a JSON object with an event. */
export function readFrame(text: string, depthMax?: number): ClientFrame {
  try {
    return frameOf(parseJson(text, depthMax));
  } catch (error) {
    throw refusal(error);
  }
}

/** Like readFrame, but yields to the event loop. Rejects with a SocketCommandError. */
export async function readLongFrame(text: string, turns: TaskScheduler, depthMax?: number): Promise<ClientFrame> {
  try {
    const reading = new LongJson(Buffer.from(text), { ...(depthMax !== undefined && { depthMax }) });
    do await turns.next();
    while (!reading.readPart());
    return frameOf(reading.value);
  } catch (error) {
    throw refusal(error);
  }
}

function frameOf(frame: unknown): ClientFrame {
  if (!isObject(frame)) throw new SocketCommandError('unknownEvent', problemOf('not_an_object', { path: 'frame' }));
  if (typeof frame['event'] !== 'string')
    throw new SocketCommandError(
      'unknownEvent',
      problemOf('not_a_string', { path: 'event', found: show(frame['event']) }),
    );
  return frame as unknown as ClientFrame;
}

function refusal(error: unknown): unknown {
  if (error instanceof UnsupportedJson) return new SocketCommandError('unknownEvent', error.problem);
  if (!(error instanceof SyntaxError)) return error;
  return new SocketCommandError('unknownEvent', problemOf('not_json', { path: 'frame' }, error.message));
}

/** Maximum length of a description, so that an error frame fits the limit of every client. */
const DESCRIPTION_MAX_CHARACTERS = 8_000;

/** Returns an error frame. `description` is the message of the reason, or a list of problems. */
export function errorFrame(code: number, { reason, params }: ErrorReason, description: string): string {
  return JSON.stringify({ event: 'error', code, description: shorten(description), reason, params });
}

/** Returns the response to a subscribe or unsubscribe. */
export function acknowledgement(event: 'subscribed' | 'unsubscribed', topic: string, subscriptionId: number): string {
  return JSON.stringify({ event, topic, subscription_id: subscriptionId });
}

/** Joins the problems of a payload into one description. Problems that do not fit are counted. */
export function describeProblems(problems: readonly Problem[]): string {
  let description = '';
  for (const [index, problem] of problems.entries()) {
    const longer = description === '' ? shorten(String(problem)) : `${description}; ${problem}`;
    if (longer.length > DESCRIPTION_MAX_CHARACTERS - 20) return `${description}; and ${problems.length - index} more`;
    description = longer;
  }
  return description;
}

function shorten(text: string): string {
  return text.length > DESCRIPTION_MAX_CHARACTERS ? `${text.slice(0, DESCRIPTION_MAX_CHARACTERS - 3)}...` : text;
}

import { failureOf } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Outcome } from './delivery_queue.ts';

/** Statuses with which a target asks for fewer requests. */
const THROTTLED = new Set([429, 502, 503, 504]);

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Returns the meaning of a status for the delivery. */
export function outcomeOf(status: number, retryAfter: string | null, nowMs: number): Outcome {
  if (isSuccess(status)) return { what: 'delivered' };
  if (status === 410) return { what: 'gone', ...failureOf(problemOf('target_gone')) };
  if (status === 413)
    return { what: 'rejected', ...failureOf(problemOf('target_answered', { status: '413 Payload Too Large' })) };
  if (status >= 300 && status < 400) return { what: 'failed', ...failureOf(problemOf('target_redirects', { status })) };
  const failure = failureOf(problemOf('target_answered', { status }));
  const retryAfterMs = THROTTLED.has(status) ? delayOf(retryAfter, nowMs) : undefined;
  return { what: 'failed', ...failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Returns the delay of a Retry-After header, in seconds or as an HTTP date. */
function delayOf(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

import { hubError } from '../errors.ts';
import type { ParamValue } from '../reasons.ts';
import { schedule } from '../time/clock.ts';

/**
 * Resolves like `promise`, or rejects with HUB_UNAVAILABLE after `holdMs`. The operation continues and may still
 * succeed.
 */
export function withDeadline<Value>(
  promise: Promise<Value>,
  holdMs: number,
  operation: ParamValue<'operation'>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = schedule(holdMs, () => {
      reject(hubError('journal_late', { operation }));
    });
    promise.then(resolve, reject).finally(cancel);
  });
}

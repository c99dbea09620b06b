import { HubError } from '../errors.ts';
import { schedule } from '../time/clock.ts';

/**
 * Resolves like `promise`, or rejects with HUB_UNAVAILABLE after `holdMs`. The operation continues and may still
 * succeed. `what` starts the message, as in `Cannot process locations`.
 */
export function withDeadline<Value>(promise: Promise<Value>, holdMs: number, what: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = schedule(holdMs, () => {
      const found = 'the journal has not stored it in time; it may still be done';
      reject(new HubError('HUB_UNAVAILABLE', `${what}: ${found}`));
    });
    promise.then(resolve, reject).finally(cancel);
  });
}

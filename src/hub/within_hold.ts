import { HubError } from '../errors.ts';
import { schedule } from '../time/clock.ts';

/**
 * What the promise brings, if that is not later than a request may wait. Rejects with HUB_UNAVAILABLE otherwise: what was
 * asked for goes on all the same, so it may still be done. `what` begins the message, as in `Cannot process locations`.
 */
export function withinHold<Value>(promise: Promise<Value>, holdMs: number, what: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = schedule(holdMs, () => {
      const found = 'the journal has not kept it in time; it may be done all the same';
      reject(new HubError('HUB_UNAVAILABLE', `${what}: ${found}`));
    });
    promise.then(resolve, reject).finally(cancel);
  });
}

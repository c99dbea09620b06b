import type { HttpReply } from '../exchange.ts';
import type { ApiDeps } from './deps.ts';

/** Number of items processed in about a millisecond. */
const MANY = 10_000;

/** Creates a reply from `count` items; a long one is created in its own task of the scheduler. */
export function inTurn(count: number, { turns }: ApiDeps, make: () => HttpReply): HttpReply | Promise<HttpReply> {
  return count < MANY ? make() : turns.next().then(make);
}

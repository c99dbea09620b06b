import type { HttpReply } from '../exchange.ts';
import type { ApiDeps } from './deps.ts';

/** To go through so many takes about a millisecond. */
const MANY = 10_000;

/** Makes a reply by going through so many: where that takes a while, in a turn of the event loop that nobody else has. */
export function inTurn(count: number, { turns }: ApiDeps, make: () => HttpReply): HttpReply | Promise<HttpReply> {
  return count < MANY ? make() : turns.next().then(make);
}

import { parseArgs } from 'node:util';
import { diceOf } from '../support/dice.ts';
import { Comparison } from './scanner_compared.ts';
import { wildBody } from './wild_locations.ts';

/**
 * `npm run fuzz:scanner -- --count 5000000 --seed 1`: compares the results of the scanner for random bodies with those
 * of the parser and the checks. Fails with the first body for which they differ.
 */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '5000000' }, seed: { type: 'string', default: '1000000' } },
});
const [count, first] = [Number(values.count), Number(values.seed)];
const comparison = new Comparison();
for (let done = 0; done < count; done++) {
  comparison.list(wildBody(diceOf(first + done)));
  if ((done + 1) % 500_000 === 0 || done + 1 === count) {
    const { accepted, taken } = comparison;
    console.log(`${done + 1} bodies, ${accepted} accepted by the hub, ${taken} of them taken by the scanner`);
  }
}

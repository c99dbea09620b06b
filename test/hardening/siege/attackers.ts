import { setMaxListeners } from 'node:events';
import { ATTACKS } from './attacks.ts';

/**
 * A process of attackers: `node attackers.ts PORT ONLY BROKER_PORT`. Runs the attacks whose names match the regular
 * expression until its standard input ends, then prints as JSON the number of rounds and of responses by status for
 * each.
 */
const [, , port, only = '', brokerPort = ''] = process.argv;
const chosen = Object.entries(ATTACKS).filter(([name]) => new RegExp(only).test(name));
const end = new AbortController();
// Each request adds a listener to it until it is garbage-collected.
setMaxListeners(0, end.signal);
const rounds: Record<string, number> = {};
const statuses: Record<number, number> = {};

process.stdin.on('end', () => end.abort()).resume();

const siege = {
  port: Number(port),
  brokerPort: brokerPort === '' ? undefined : Number(brokerPort),
  signal: end.signal,
  answered(status: number) {
    statuses[status] = (statuses[status] ?? 0) + 1;
  },
};

await Promise.all(
  chosen.map(async ([name, attack]) => {
    for (let round = 0; !end.signal.aborted; round++) {
      // A hub that rejects the attacker is the expected result.
      await attack(siege, round).catch(() => undefined);
      rounds[name] = round + 1;
    }
  }),
);
console.log(JSON.stringify({ rounds, statuses }));
process.exit(0);

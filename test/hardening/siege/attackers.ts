import { setMaxListeners } from 'node:events';
import { ATTACKS } from './attacks.ts';

/**
 * A process of attackers: `node attackers.ts PORT ONLY BROKER_PORT`. Makes the attacks whose names fit the regular expression until its
 * standard input ends, then prints as JSON how many rounds there were of each, and how often each status was answered.
 */
const [, , port, only = '', brokerPort = ''] = process.argv;
const chosen = Object.entries(ATTACKS).filter(([name]) => new RegExp(only).test(name));
const end = new AbortController();
// Each request listens to it until its garbage is collected.
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
      // A hub that does not let the attacker in is what it is about.
      await attack(siege, round).catch(() => undefined);
      rounds[name] = round + 1;
    }
  }),
);
console.log(JSON.stringify({ rounds, statuses }));
process.exit(0);

import { ATTACKS } from './attacks.ts';

/**
 * A process of attackers: `node attackers.ts PORT`. Attacks until its standard input ends, then prints as JSON how many
 * rounds there were of each attack, and how often each status was answered.
 */
const port = Number(process.argv[2]);
const end = new AbortController();
const rounds: Record<string, number> = {};
const statuses: Record<number, number> = {};

process.stdin.on('end', () => end.abort()).resume();

const siege = {
  port,
  signal: end.signal,
  answered(status: number) {
    statuses[status] = (statuses[status] ?? 0) + 1;
  },
};

await Promise.all(
  Object.entries(ATTACKS).map(async ([name, attack]) => {
    for (let round = 0; !end.signal.aborted; round++) {
      // A hub that does not let the attacker in is what it is about.
      await attack(siege, round).catch(() => undefined);
      rounds[name] = round + 1;
    }
  }),
);
console.log(JSON.stringify({ rounds, statuses }));
process.exit(0);

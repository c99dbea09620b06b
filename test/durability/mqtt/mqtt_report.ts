import { FAULTS, type MqttFindings, type Round } from './mqtt_rounds.ts';

const COLUMNS = ['sent', 'delivered', 'acknowledged', 'redelivered', 'doubled', 'forgotten'] as const;
const SHOWN = 20;

/** Formats a round as a line of the table. */
export function roundLine(round: number, { fault, tookMs, ...counts }: Round): string {
  const numbers = COLUMNS.map((name) => String(counts[name]).padStart(name.length + 2));
  return `${String(round).padStart(5)}  ${fault.padEnd(14)}${numbers.join('')}${`${(tookMs / 1000).toFixed(1)} s`.padStart(9)}`;
}

export const ROUND_HEAD = `round  ${'fault'.padEnd(14)}${COLUMNS.map((name) => `  ${name}`).join('')}     took`;

/** Formats the findings as lines. */
export function mqttReport({ rounds, problems }: MqttFindings, what: string): string {
  const sum = (of: readonly Round[], name: (typeof COLUMNS)[number]): number => {
    return of.reduce((all, round) => all + round[name], 0);
  };
  const faults = FAULTS.flatMap((fault) => {
    const of = rounds.filter((round) => round.fault === fault);
    const [redelivered, forgotten] = [sum(of, 'redelivered'), sum(of, 'forgotten')];
    return of.length === 0
      ? []
      : [row(fault, `${of.length}, redelivered ${redelivered}, forgotten by the broker ${forgotten}`)];
  });
  const kinds = ['lost', 'out of order', 'stuck', 'refused'];
  const others = problems.filter((problem) => !kinds.some((kind) => problem.startsWith(`${kind}:`)));
  return [
    row('rounds', `${rounds.length}, ${what}`),
    ...faults,
    ...COLUMNS.map((name) => row(name, sum(rounds, name))),
    ...kinds.map((kind) => row(kind, problems.filter((problem) => problem.startsWith(`${kind}:`)).length)),
    row('otherwise wrong', others.length),
    ...problems.slice(0, SHOWN),
  ].join('\n');
}

function row(name: string, value: string | number): string {
  return `${name.padEnd(20)}${value}`;
}

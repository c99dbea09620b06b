import type { Zone } from '../../../src/model/zone.ts';
import { HALL } from '../../support/hall.ts';
import { deleted, inHall, type ShardCommand, T0 } from '../../support/shard_harness.ts';
import type { Step } from './steps.ts';

/** A command at a second. */
export interface Timed {
  readonly second: number;
  readonly command: ShardCommand;
}

/** Long after the last command, when all deadlines have passed. */
export const LATER = 60;

/** Commands of a site. */
export function commandsOf(steps: readonly Step[]): Timed[] {
  const places = new Map<string, readonly [number, number]>();
  let nowMs = 1000;
  return steps.flatMap((step): Timed[] => {
    nowMs += step.afterMs;
    const second = nowMs / 1000;
    const command = tellingOf(step, second, places);
    return command === undefined ? [] : [{ second, command }];
  });
}

/** Second of the last command. */
export function endOf(timed: readonly Timed[]): number {
  return timed.at(-1)?.second ?? 0;
}

/** Entities after all these commands, in the order in which the hub sends them at startup. */
export function entitiesAfter(timed: readonly Timed[]): Timed['command'][] {
  const last = new Map<string, Timed['command']>();
  for (const { command } of timed) {
    if (command.kind === 'rules') last.set('rules', command);
    if (!('entity' in command)) continue;
    const key = `${command.kind} ${command.id}`;
    last.delete(key);
    if (command.entity !== undefined) last.set(key, { ...command, force: false } as Timed['command']);
  }
  const kinds = ['rules', 'zone', 'fence', 'provider', 'trackable'];
  return [...last.values()].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
}

function tellingOf(
  step: Step,
  second: number,
  places: Map<string, readonly [number, number]>,
): ShardCommand | undefined {
  switch (step.does) {
    case 'walk':
    case 'jump': {
      const [fromX, fromY] = step.does === 'walk' ? (places.get(step.id) ?? [18, 18]) : [0, 0];
      const [x, y] = [within(fromX + step.x), within(fromY + step.y)];
      places.set(step.id, [x, y]);
      const { lagMs, floor, z, accuracy } = step.how;
      const more = { provider_id: step.id, accuracy, ...(floor !== undefined && { floor }) };
      const generatedMs = T0 + second * 1000 - lagMs;
      const timestamp = { timestamp_generated: new Date(generatedMs).toISOString() };
      return { ...inHall(second, z === undefined ? [x, y] : [x, y, z], { ...more, ...timestamp }), generatedMs };
    }
    case 'forget':
      return { kind: 'forget', id: step.id };
    case 'provider':
    case 'fence':
      return { kind: step.does, id: step.id, entity: step.entity } as ShardCommand;
    case 'trackable':
      return { kind: 'trackable', id: step.id, entity: step.entity, force: step.force };
    case 'zone':
      return step.eastMeters === undefined ? deleted('zone', HALL.id) : hallUpdate(step.eastMeters);
    case 'rules':
      return { kind: 'rules', rules: step.rules };
    case 'wait':
      return undefined;
  }
}

/** All objects stay near the hall. */
function within(meters: number): number {
  return Math.max(-10, Math.min(50, meters));
}

function hallUpdate(eastMeters: number): ShardCommand {
  // About a meter of longitude at 50 degrees north.
  const degrees = eastMeters * 1.394785e-5;
  const rows = (HALL.ground_control_points as number[][]).map((row, i) =>
    i % 2 === 0 ? [(row[0] as number) + degrees, row[1] as number] : row,
  );
  const entity: Zone = { ...HALL, ground_control_points: rows };
  return { kind: 'zone', id: HALL.id, entity };
}

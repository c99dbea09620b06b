import type { ExportedState } from '../../../src/core/item.ts';
import { type Rebalance, ShardDirectory } from '../../../src/shards/shard_directory.ts';
import {
  eventsOf,
  type HarnessOptions,
  type ObservedOutcome,
  itemOf,
  type ShardCommand,
  ShardHarness,
  T0,
} from '../../support/shard_harness.ts';
import { endOf, LATER, type Timed } from './commands.ts';

/** One shard that receives all items one by one, and then waits. */
export async function play(timed: readonly Timed[], options: HarnessOptions = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open(options);
  for (const { second, command } of timed) harness.tell(second, command);
  harness.step(endOf(timed) + LATER);
  return harness;
}

/** Several shards that share objects, as in the hub: the state of objects migrates from shard to shard. */
export class SharedSite {
  readonly benches: readonly ShardHarness[];
  /** Outcomes of all shards, in order. */
  readonly outcomes: ObservedOutcome[] = [];
  readonly #directory: ShardDirectory;
  /** Items are numbered across all shards. */
  #seq = 0;
  /** Number of migrations of objects. */
  moves = 0;

  constructor(benches: readonly ShardHarness[]) {
    this.benches = benches;
    this.#directory = new ShardDirectory(benches.length);
  }

  static async play(timed: readonly Timed[], count: number): Promise<SharedSite> {
    const site = new SharedSite(await Promise.all(Array.from({ length: count }, () => ShardHarness.open())));
    for (const { second, command } of timed) site.#tell(second, command);
    for (const harness of site.benches) site.outcomes.push(harness.step(endOf(timed) + LATER));
    return site;
  }

  #tell(second: number, command: ShardCommand): void {
    const directory = this.#directory;
    switch (command.kind) {
      case 'location':
        this.#tellOne(directory.ofProvider(command.location.provider_id), second, command);
        return;
      case 'provider':
      case 'forget':
        this.#tellOne(directory.ofProvider(command.id), second, command);
        if (command.kind === 'provider' && command.entity === undefined) directory.forget('provider', command.id);
        return;
      case 'trackable':
        if (command.entity === undefined) {
          this.#tellOne(directory.ofTrackable(command.id), second, command);
          directory.forget('trackable', command.id);
        }
        for (const move of directory.assign([command])) this.#move(second, move);
        if (command.entity !== undefined) this.#tellOne(directory.ofTrackable(command.id), second, command);
        return;
      default:
        for (const shard of this.benches.keys()) this.#tellOne(shard, second, command);
    }
  }

  #move(second: number, { from, to, providers, trackables }: Rebalance): void {
    this.moves++;
    const [answer] = this.#tellOne(from, second, { kind: 'exportState', id: 1, providers, trackables }).answers;
    this.#tellOne(to, second, { kind: 'importState', state: structuredClone(answer?.[1] as ExportedState) });
  }

  #tellOne(shard: number, second: number, command: ShardCommand): ObservedOutcome {
    this.#seq++;
    const item = itemOf(command, this.#seq, T0 + second * 1000);
    const outcome = (this.benches[shard] as ShardHarness).step(second, [item]);
    this.outcomes.push(outcome);
    return outcome;
  }
}

/**
 * All output for each object, by variant and in order: events without their ids, and motions for the collision stage.
 */
export function saidOf(outcomes: readonly ObservedOutcome[]): Record<string, string[]> {
  const said: Record<string, string[]> = {};
  const add = (object: string, text: string): void => {
    said[object] ??= [];
    said[object].push(text);
  };
  for (const outcome of outcomes) {
    for (const { variant, fields, text } of eventsOf(outcome)) {
      const event = JSON.parse(text);
      const object = event.trackable_id ?? event.provider_id ?? event.id;
      add(`${variant} ${object}`, `${variant} ${JSON.stringify(fields)} ${text.replace(/"id":"event-\d+",/, '')}`);
    }
    for (const { seq: _, ...motion } of outcome.motions) add(motion.id, JSON.stringify(motion));
  }
  return said;
}

/** All events by variant, in order, without the sending time, which is that of their step. */
export function textsOf(harness: ShardHarness): string[] {
  const events = harness.events.toSorted((a, b) => a.variant - b.variant);
  return events.map(({ variant, text }) => `${variant} ${text.replace(/,"timestamp_sent":"[^"]*"/, '')}`);
}

import type { ReceivedLocation } from '../core/location/received.ts';
import { timeOfDay } from '../model/set_back.ts';
import { locationsOf } from '../wire/location_record.ts';
import { locationsIn } from '../wire/messages.ts';
import type { CountedRun } from '../wire/received_run.ts';
import type { StepLeft } from './step_journal.ts';

/** An owner that lives answers within that time, or is asked again: who waits for longer waits for the next one. */
const LATEST_MS = 10_000;

/**
 * The locations that owners before have recorded at last. A front door that has handed them in and got no answer hands them
 * to the next owner, where they count as processed.
 *
 * A location is known by all that was sent, and by when it was true. Of two that do not differ in any of that the second
 * changes nothing, so it does not matter which of them was recorded.
 */
export class RecordedLocations {
  readonly #steps: readonly StepLeft[];
  /** Made when somebody asks: hardly anybody does. */
  #keys: Set<string> | undefined;

  constructor(steps: readonly StepLeft[]) {
    const latestMs = steps.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);
    this.#steps = steps.filter(({ endMs }) => endMs >= latestMs - LATEST_MS);
  }

  /** Runs, with times of day, without what is recorded. Those that stay as they are are not copied. */
  without(runs: readonly CountedRun[]): readonly CountedRun[] {
    this.#keys ??= this.#keysOfAll();
    const keys = this.#keys;
    return runs.flatMap((run) => {
      const locations = locationsOf(run);
      const left = locations.filter((location) => !keys.has(keyOf(location, location.generatedMs)));
      if (left.length === locations.length) return [run];
      const bytes = Buffer.concat(left.map((location) => location.bytes));
      return left.length === 0 ? [] : [{ names: run.names, bytes, count: left.length }];
    });
  }

  #keysOfAll(): Set<string> {
    const keys = new Set<string>();
    for (const { step } of this.#steps) {
      for (const location of locationsIn(step)) {
        keys.add(keyOf(location, timeOfDay(location.generatedMs, step.setBacks ?? [])));
      }
    }
    return keys;
  }
}

function keyOf({ source, crs, content }: ReceivedLocation, generatedMs: number): string {
  return `${generatedMs} ${crs} ${content} ${source}`;
}

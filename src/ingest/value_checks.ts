import { HubError } from '../errors.ts';
import { Problem } from '../problem.ts';
import { type CheckedLocation, checkLocation, type CheckContext } from './check_location.ts';
import { type CheckedProximity, checkProximity } from './check_proximity.ts';
import type { IngestOptions } from './ingest_options.ts';
import { Rejections } from './rejections.ts';

/** Kind of accepted values. */
export interface Kind<T extends CheckedLocation> {
  readonly check: (value: unknown, expected: CheckContext) => T | Problem;
  /** Returns the proximities to publish as received. */
  readonly proximities: (checked: readonly T[]) => readonly CheckedProximity['proximity'][];
}

const NONE: readonly CheckedProximity['proximity'][] = [];
export const LOCATIONS: Kind<CheckedLocation> = { check: checkLocation, proximities: () => NONE };
export const PROXIMITIES: Kind<CheckedProximity> = {
  check: checkProximity,
  proximities: (checked) => checked.map(({ proximity }) => proximity),
};

/** A list that is accepted as a whole, with its values validated so far. */
interface AllOf<T extends CheckedLocation> {
  readonly values: readonly unknown[];
  /** Index of the first value in the whole list, and length of the list. */
  readonly first: number;
  readonly of: number;
  readonly incoming: { readonly root: string; readonly providerId?: string };
  readonly kind: Kind<T>;
  readonly receivedMs: number;
  readonly checked: T[];
}

/** Values that are accepted one by one: those valid so far, and the problems of the others. */
interface EachOf<T extends CheckedLocation> extends Omit<AllOf<T>, 'incoming' | 'first' | 'of'> {
  readonly nameOf: (index: number) => string;
  readonly problems: Problem[];
}

/** Checks lists of locations and proximities, and counts the rejected values by reason. */
export class ValueChecks {
  readonly rejections = new Rejections();
  readonly #options: Pick<IngestOptions, 'zone' | 'providerId' | 'depthMax' | 'bounds'>;

  constructor(options: Pick<IngestOptions, 'zone' | 'providerId' | 'depthMax' | 'bounds'>) {
    this.#options = options;
  }

  /** Checks values of a list that is accepted as a whole. Throws HUB_BAD_REQUEST at the first invalid one. */
  checkAll<T extends CheckedLocation>(all: AllOf<T>, from: number, to: number): void {
    const { values, first, of, incoming, kind, receivedMs, checked } = all;
    const { root, providerId } = incoming;
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    for (let index = from; index < to; index++) {
      const at = root === '' ? '' : `${root}[${first + index}]`;
      const found = kind.check(values[index], { at, providerId, receivedMs, zone, knownId, depthMax, bounds });
      if (found instanceof Problem) {
        this.rejections.countProblem(found, at);
        // One invalid value rejects the whole list.
        this.rejections.count('list', of - 1);
        throw new HubError(found);
      }
      checked.push(found);
    }
  }

  /** Checks values that are accepted one by one. */
  checkEach<T extends CheckedLocation>(each: EachOf<T>, from: number, to: number): void {
    const { values, nameOf, kind, receivedMs, checked, problems } = each;
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    for (let index = from; index < to; index++) {
      const at = nameOf(index);
      const found = kind.check(values[index], { at, receivedMs, zone, knownId, depthMax, bounds });
      if (found instanceof Problem) {
        this.rejections.countProblem(found, at);
        problems.push(found);
      } else checked.push(found);
    }
  }
}

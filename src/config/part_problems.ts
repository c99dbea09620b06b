import type { TSchema } from 'typebox';
import { checker } from '../model/check.ts';
import { didYouMean } from './suggest.ts';

/** Problem of a part of a value: its path, and the rest of a sentence about it. */
export interface PartProblem {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/**
 * Returns a function that returns the problems of the members of an object with these schemas. `what` describes the
 * object for members that do not exist.
 */
export function memberProblems(properties: Readonly<Record<string, TSchema>>, what: string) {
  const names = Object.keys(properties);
  const checkers = Object.entries(properties).map(([name, schema]) => ({ name, check: checker(schema) }));
  return (values: Readonly<Record<string, unknown>>, path: readonly (string | number)[]): PartProblem[] => {
    const problems: PartProblem[] = [];
    for (const name of Object.keys(values)) {
      if (names.includes(name)) continue;
      problems.push({ path: [...path, name], text: `is no setting of ${what}${didYouMean(name, names)}` });
    }
    for (const { name, check } of checkers) {
      const found = values[name];
      if (found === undefined) continue;
      // The path is separated from `x: must be …`, since it may have its own line number.
      const wrong = check.explain(found, 'x')?.toString().slice('x: '.length);
      if (wrong !== undefined) problems.push({ path: [...path, name], text: wrong });
    }
    return problems;
  };
}

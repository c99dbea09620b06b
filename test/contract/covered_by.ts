import { ENDPOINTS, testName, versionsOf } from './endpoints.ts';

/** A test by its file below test/ and its name; a case of a table by the test file that runs it and its own name. */
export type CoveredBy = readonly [file: string, name: string];

/** The file whose tests walk every method of every endpoint in every version. */
export const ENDPOINT_WALK = 'contract/endpoint_table.test.ts';

/** The tests that walk an endpoint in each version: one method of it, or all. */
export function walked(path: string, method?: string): readonly CoveredBy[] {
  const found = ENDPOINTS.filter((endpoint) => endpoint.path === path).flatMap((endpoint) => {
    const methods = Object.entries(endpoint.answers).filter(([name]) => method === undefined || name === method);
    return methods.flatMap(([name, status]) => {
      const title = `${name} ${path}`;
      return versionsOf(endpoint).map((version): CoveredBy => [ENDPOINT_WALK, testName(version, title, status)]);
    });
  });
  if (found.length === 0) throw new Error(`Cannot name tests of ${method ?? ''} ${path}: there is no such endpoint`);
  return found;
}

import { ENDPOINTS, testName, versionsOf } from './endpoints.ts';

/** A test: its file below test/ and its name. A table case is named by its test file and its own name. */
export type CoveredBy = readonly [file: string, name: string];

/** The file whose tests call every method of every endpoint in every version. */
export const ENDPOINT_WALK = 'contract/endpoint_table.test.ts';

/** Returns the tests that call one method of an endpoint, or all, in each version. */
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

import type { CoveredBy } from '../covered_by.ts';
import { isTest } from '../test_names.ts';

/** Creates a function that refers to a test of this file by its name. */
function testsOf(file: string): (name: string) => CoveredBy {
  return (name) => [file, name];
}

const CASE_FILES = ['contract/fields.test.ts', 'contract/movement.test.ts', 'contract/service.test.ts'];

/** Returns the test of a contract case, in whichever file runs it. */
export function contractCase(name: string): CoveredBy {
  return [CASE_FILES.find((file) => isTest([file, name])) ?? 'contract', name];
}

export const anchorsAndRules = testsOf('e2e/anchors_and_rules.test.ts');
export const badInput = testsOf('e2e/bad_input.test.ts');
export const changes = testsOf('e2e/changes.test.ts');
export const endpointTable = testsOf('contract/endpoint_table.test.ts');
export const entities = testsOf('e2e/entities.test.ts');
export const filters = testsOf('e2e/filters.test.ts');
export const frames = testsOf('e2e/frames.test.ts');
export const identityProvider = testsOf('auth/identity_provider.test.ts');
export const license = testsOf('e2e/license.test.ts');
export const matrix = testsOf('auth/matrix.test.ts');
export const oldDatabase = testsOf('e2e/old_database.test.ts');
export const operation = testsOf('e2e/operation.test.ts');
export const overload = testsOf('durability/overload.test.ts');
export const ownership = testsOf('auth/ownership.test.ts');
export const proxy = testsOf('auth/proxy.test.ts');
export const relations = testsOf('e2e/relations.test.ts');
export const restart = testsOf('durability/restart.test.ts');
export const restore = testsOf('core/restore.test.ts');
export const rules = testsOf('core/rules.test.ts');
export const running = testsOf('auth/running.test.ts');
export const scratch = testsOf('store/scratch.test.ts');
export const served = testsOf('hub-ui/served.test.ts');
export const socketDocument = testsOf('contract/socket_document.test.ts');
export const sources = testsOf('e2e/sources.test.ts');
export const starts = testsOf('auth/starts.test.ts');
export const startFailures = testsOf('e2e/start_failures.test.ts');
export const topics = testsOf('e2e/topics.test.ts');
/** Setups, observations and events of test/scenarios/vectors.ts, played on a running hub. */
export const vectors = testsOf('e2e/vectors.test.ts');
export const views = testsOf('e2e/views.test.ts');
export const waysIn = testsOf('e2e/ways_in.test.ts');
export const wideColumn = testsOf('durability/wide_column.test.ts');

import { describe, test } from 'node:test';
import { type ContractCase, runCase, titleOf } from './cases/contract_case.ts';
import { CLIENTS_CASES } from './cases/clients_cases.ts';
import { CONFIG_CASES } from './cases/config_cases.ts';
import { ENDPOINT_CASES } from './cases/endpoint_cases.ts';
import { ERROR_TYPE_CASES } from './cases/error_type_cases.ts';
import { PERSISTENCE_CASES } from './cases/persistence_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly ContractCase[]>> = {
  endpoints: ENDPOINT_CASES,
  persistence: PERSISTENCE_CASES,
  'types of errors': ERROR_TYPE_CASES,
  'Difficulties of public clients': CLIENTS_CASES,
  'configuration and license': CONFIG_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Contract: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

import { describe, test } from 'node:test';
import { type AuditCase, runCase, titleOf } from './audit_case.ts';
import { CLIENTS_CASES } from './clients_cases.ts';
import { CONFIG_CASES } from './config_cases.ts';
import { ENDPOINT_CASES } from './endpoint_cases.ts';
import { ERROR_TYPE_CASES } from './error_type_cases.ts';
import { PERSISTENCE_CASES } from './persistence_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly AuditCase[]>> = {
  endpoints: ENDPOINT_CASES,
  persistence: PERSISTENCE_CASES,
  'types of errors': ERROR_TYPE_CASES,
  'what public clients stumble over': CLIENTS_CASES,
  'configuration and license': CONFIG_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Audit: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

import { describe, test } from 'node:test';
import { type AuditCase, runCase, titleOf } from './audit_case.ts';
import { ENTITIES_CASES } from './entities_cases.ts';
import { FIELD_CASES } from './field_cases.ts';
import { NUMBERS_CASES } from './numbers_cases.ts';
import { REJECTION_CASES } from './rejection_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly AuditCase[]>> = {
  fields: FIELD_CASES,
  rejections: REJECTION_CASES,
  entities: ENTITIES_CASES,
  'numbers of application data': NUMBERS_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Audit: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

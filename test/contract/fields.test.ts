import { describe, test } from 'node:test';
import { type ContractCase, runCase, titleOf } from './cases/contract_case.ts';
import { ENTITIES_CASES } from './cases/entities_cases.ts';
import { FIELD_CASES } from './cases/field_cases.ts';
import { NUMBERS_CASES } from './cases/numbers_cases.ts';
import { REJECTION_CASES } from './cases/rejection_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly ContractCase[]>> = {
  fields: FIELD_CASES,
  rejections: REJECTION_CASES,
  entities: ENTITIES_CASES,
  'numbers of application data': NUMBERS_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Contract: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

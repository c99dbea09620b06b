import { describe, test } from 'node:test';
import { ASSIGNMENT_CASES } from './cases/assignment_cases.ts';
import { type ContractCase, runCase, titleOf } from './cases/contract_case.ts';
import { COLLISION_CASES } from './cases/collisions_cases.ts';
import { SUBSCRIPTION_CASES } from './cases/subscription_cases.ts';
import { TIMER_CASES } from './cases/timer_cases.ts';
import { ZONE_CASES } from './cases/zone_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly ContractCase[]>> = {
  'timers of silent members': TIMER_CASES,
  'assignments, deletions and rules': ASSIGNMENT_CASES,
  'zones that move, and heights': ZONE_CASES,
  collisions: COLLISION_CASES,
  subscriptions: SUBSCRIPTION_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Contract: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

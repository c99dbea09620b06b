import { describe, test } from 'node:test';
import { ASSIGNMENT_CASES } from './assignment_cases.ts';
import { type AuditCase, runCase, titleOf } from './audit_case.ts';
import { COLLISION_CASES } from './collisions_cases.ts';
import { SUBSCRIPTION_CASES } from './subscription_cases.ts';
import { TIMER_CASES } from './timer_cases.ts';
import { ZONE_CASES } from './zone_cases.ts';

const SUBJECTS: Readonly<Record<string, readonly AuditCase[]>> = {
  'timers of silent members': TIMER_CASES,
  'assignments, deletions and rules': ASSIGNMENT_CASES,
  'zones that move, and heights': ZONE_CASES,
  collisions: COLLISION_CASES,
  subscriptions: SUBSCRIPTION_CASES,
};

for (const [subject, cases] of Object.entries(SUBJECTS)) {
  describe(`Audit: ${subject}`, () => {
    for (const each of cases) test(titleOf(each), (t) => runCase(each, t));
  });
}

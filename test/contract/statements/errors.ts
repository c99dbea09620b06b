import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Errors. */
export const ERRORS: readonly Statement[] = [
  {
    at: 'Errors item 1',
    says: 'A provider that a trackable names twice is rejected',
    tests: [by.contractCase('a trackable that names a provider twice is rejected on POST, PUT and PATCH')],
  },
  {
    at: 'Errors item 2',
    says: 'So is a proximity zone with ground control points',
    tests: [by.contractCase('a proximity zone with ground control points is rejected, also as an incomplete one')],
  },
  {
    at: 'Errors item 3',
    says: 'And one without a position',
    tests: [by.contractCase('a proximity zone without a position is rejected')],
  },
  {
    at: 'Errors item 4',
    says: 'A zone lacks what it needs only with incomplete_configuration',
    tests: [
      by.contractCase(
        'a zone without a required member is accepted on POST and PUT if and only if incomplete_configuration is true',
      ),
    ],
  },
  {
    at: 'Errors item 5',
    says: 'The error describes the defect of a fence geometry in detail',
    tests: [
      by.contractCase('a fence with an invalid geometry is rejected, and the error names the defect and its position'),
      ['geometry/shape_checks.test.ts', 'the region check'],
      by.contractCase(
        'A fence and a trackable with an empty list of rings are rejected with an error that names the defect and its position',
      ),
      by.contractCase(
        'A fence and a trackable with a polygon that crosses itself are rejected with an error that names the defect and its position',
      ),
    ],
  },
  {
    at: 'Errors item 6',
    says: 'A wide-column database that limits the rate makes errors',
    tests: [
      by.wideColumn(
        'A database that limits the rate causes 503 with an error, is counted, and blocks nothing permanently',
      ),
      [
        'store/widecolumn/failures.test.ts',
        'A write that an overloaded database rejects is retried with growing delays, and counted',
      ],
    ],
  },
  {
    at: 'Errors item 7',
    says: 'collision_tolerance of a trackable is rejected',
    tests: [by.contractCase('collision_tolerance on a trackable is rejected in favor of exit_tolerance')],
  },
];

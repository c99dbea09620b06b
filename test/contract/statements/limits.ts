import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Limits. */
export const LIMITS: readonly Statement[] = [
  {
    at: 'Limits row 1',
    says: 'An access token is good for 900 seconds',
    tests: [
      by.identityProvider('The token response has all members that the API lists'),
      by.identityProvider('A token that is asked for as the API says is taken over REST and WebSocket'),
      by.running('ends a subscription when its token expires, and refuses what comes with it afterwards'),
    ],
  },
  {
    at: 'Limits row 2',
    says: '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay; for the fence timeout 0 and null, too',
    tests: [
      by.contractCase(
        '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay, wherever it is set',
      ),
      by.vectors('a fence timeout of 0 is infinite'),
      by.vectors('a fence timeout of null is infinite'),
    ],
  },
  {
    at: 'Limits row 3',
    says: 'widecolumn_rate and widecolumn_burst_size limit the wide-column database',
    tests: [
      by.wideColumn('A rate of writes is kept to, and what waits for it is the newest of each object'),
      ['config/load.test.ts', 'loadConfig puts widecolumn_ over cassandra_ in the environment'],
    ],
  },
  {
    at: 'Limits row 4',
    says: 'persist_locations is on by default',
    tests: [by.contractCase('locations are kept without any setting, and what stands still is listed after a restart')],
  },
];

import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Limits. */
export const LIMITS: readonly Statement[] = [
  {
    at: 'Limits row 1',
    says: 'An access token is good for 900 seconds',
    tests: [
      by.identityProvider('The token response has all members that the API lists'),
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      by.running('ends a subscription when its token expires, and rejects later requests with that token'),
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
      by.wideColumn('The rate of writes is limited, and the newest row of each object waits for it'),
      ['config/load.test.ts', 'loadConfig puts widecolumn_ over cassandra_ in the environment'],
    ],
  },
  {
    at: 'Limits row 4',
    says: 'persist_locations is on by default',
    tests: [by.contractCase('locations are stored by default, and stationary objects are listed after a restart')],
  },
];

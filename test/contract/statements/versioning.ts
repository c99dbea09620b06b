import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Versioning. */
export const VERSIONING: readonly Statement[] = [
  {
    at: 'Versioning item 1a',
    says: 'The version is in the path: /hub/v1, /hub/v2',
    tests: [
      by.entities('zone: both versions and all prefixes return the same entities'),
      by.endpointTable('are the rows of the API, and were called with valid and invalid input'),
      by.contractCase('An error under a v1 prefix has the plain type of v1, whatever its cause'),
    ],
  },
  {
    at: 'Versioning item 1b',
    says: 'Version 2 is the next revision of the standard, with all endpoints',
    tests: [
      by.endpointTable('are the rows of the API, and were called with valid and invalid input'),
      ['contract/reference_api.test.ts', 'was called completely in v2, with valid and invalid input'],
    ],
  },
  {
    at: 'Versioning item 2',
    says: 'In version 2 clients may give ids',
    tests: [by.contractCase('version 2 accepts the id of a client, version 1 generates its own')],
  },
  {
    at: 'Versioning item 3a',
    says: 'Releases are numbered with three numbers',
    tests: [
      by.operation('its liveness at /health and its version at /version, with and without a version in the path'),
    ],
  },
  {
    at: 'Versioning item 3b',
    says: 'There are the environments release and beta',
    tests: [
      by.identityProvider('The release and beta environments have their own token addresses, clients and secrets'),
    ],
  },
  {
    at: 'Versioning item 4.1a',
    says: 'Proximity zones need a position, and have no ground control points',
    tests: [
      by.contractCase('a proximity zone without a position is rejected'),
      by.contractCase('a proximity zone with ground control points is rejected, also as an incomplete one'),
    ],
  },
  {
    at: 'Versioning item 4.1b',
    says: 'collision_tolerance is called exit_tolerance',
    tests: [by.contractCase('collision_tolerance on a trackable is rejected in favor of exit_tolerance')],
  },
  {
    at: 'Versioning item 4.2',
    says: 'ANY and OWN exclude each other',
    tests: [by.starts('A hub with ANY and OWN for a path does not start, and says why')],
  },
  {
    at: 'Versioning item 4.3',
    says: 'The database has a new name and version, and every step to it a backup',
    tests: [
      by.oldDatabase(
        'A hub that finds the config.dat of an older version imports it into data.dat, and retains copies',
      ),
      [
        'store/migration.test.ts',
        'SqliteStore leaves a verified copy of the previous version, which an older hub could use',
      ],
      ['store/migration.test.ts', 'Nothing is migrated if no copy can be made'],
    ],
  },
  {
    at: 'Versioning item 4.4',
    says: 'A location without time is of now',
    tests: [by.waysIn('by PUT of one to v1 may leave out time, source and crs')],
  },
];

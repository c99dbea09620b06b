import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Endpoints: their paths and common behavior. */
export const ENDPOINT_RULES: readonly Statement[] = [
  {
    at: 'Endpoints sentence 1',
    says: 'REST is at /hub/v1',
    tests: [
      by.entities('zone: create, read, replace and delete under /hub/v1 work, and publish every change'),
      by.endpointTable('are the rows of the API, and were called with valid and invalid input'),
    ],
  },
  {
    at: 'Endpoints sentence 2',
    says: 'Version 2 of every endpoint is at /hub/v2',
    tests: [
      by.endpointTable('are the rows of the API, and were called with valid and invalid input'),
      by.entities('zone: both versions and all prefixes return the same entities'),
    ],
  },
  {
    at: 'Endpoints item 1a',
    says: 'crs chooses how locations and fences are projected',
    tests: [
      by.contractCase('crs selects the projection of every list and object with a location or a fence'),
      by.views('UTM receives the same by REST'),
      by.views('the coordinates of a zone receives its fences in them'),
    ],
  },
  {
    at: 'Endpoints item 1b',
    says: 'GPS and UTM are understood everywhere',
    tests: [
      by.views('southern UTM receives every position in it'),
      by.views('longitude and latitude receives the same by REST'),
      ['core/crs.test.ts', 'agrees with PROJ to 1 mm in both directions'],
    ],
  },
  {
    at: 'Endpoints item 1c',
    says: 'So are EPSG:32661 and EPSG:32761',
    tests: [
      by.contractCase('locations and fences at both poles are accepted and returned in EPSG:32661 and EPSG:32761'),
      ['core/crs.test.ts', 'agrees with PROJ to 1 mm in both directions'],
    ],
  },
  {
    at: 'Endpoints item 2',
    says: 'spatial_query uses the geometry of last locations instead of entries and exits with their timeouts',
    tests: [by.relations('objects in a fence'), by.relations('are consistent with the fences of each object')],
  },
  {
    at: 'Endpoints item 3',
    says: 'DELETE removes all objects of the collection',
    tests: [
      by.entities('zone: all are deleted at once with one change event each, and a repeated DELETE succeeds'),
      by.entities('fence: all are deleted at once with one change event each, and a repeated DELETE succeeds'),
      by.entities('trackable: all are deleted at once with one change event each, and a repeated DELETE succeeds'),
      by.entities('provider: all are deleted at once with one change event each, and a repeated DELETE succeeds'),
      by.changes('all locations leaves no object located'),
      by.anchorsAndRules('anchors move everything in local coordinates of their zone at once, also after a restart'),
    ],
  },
  {
    at: 'Endpoints item 4',
    says: 'With authorization, lists contain what the roles of a token permit',
    tests: [
      by.ownership('GET /zones returns owned objects to the tenant, and more to the administrator'),
      by.ownership('GET /trackables/summary returns owned objects to the tenant, and more to the administrator'),
    ],
  },
  {
    at: 'Endpoints item 5',
    says: 'The web UI is at /hub-ui, and was at /v1/web',
    tests: [by.served('A hub serves its web UI at /hub-ui, and redirects URLs of earlier releases to it')],
  },
];

import { walked } from '../covered_by.ts';
import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Statements about the endpoints, in order. */
export const ENDPOINT_ROWS: readonly Statement[] = [
  {
    at: 'Endpoints row 1',
    says: 'POST /trackables creates a trackable, by force with its motion',
    tests: [...walked('/trackables', 'POST'), by.changes('gives it its motion at once by force')],
  },
  {
    at: 'Endpoints row 2',
    says: 'PUT /trackables/{trackable_id} changes one, by force with its motion',
    tests: [
      ...walked('/trackables/{trackable_id}', 'PUT'),
      by.changes('the providers of a trackable takes effect with the next location, or at once by force'),
    ],
  },
  {
    at: 'Endpoints row 3',
    says: 'The latest location, and all latest ones, of the providers of a trackable',
    tests: [
      ...walked('/trackables/{trackable_id}/location'),
      ...walked('/trackables/{trackable_id}/locations'),
      by.contractCase('location of a trackable is the newest of its providers, and locations are all of them'),
    ],
  },
  {
    at: 'Endpoints row 4',
    says: 'All motions',
    tests: [...walked('/trackables/motions'), by.relations('list their locations and motions')],
  },
  {
    at: 'Endpoints row 5',
    says: 'The motion of a trackable',
    tests: [...walked('/trackables/{trackable_id}/motion'), by.relations('are returned as whole objects')],
  },
  {
    at: 'Endpoints row 6',
    says: 'The sensors of all providers of a trackable, as an array',
    tests: [
      ...walked('/trackables/{trackable_id}/sensors'),
      by.contractCase('sensors of a trackable are an array with those of all its providers that have some'),
    ],
  },
  {
    at: 'Endpoints row 7',
    says: 'The fences that a trackable is in, by events or by geometry',
    tests: [
      ...walked('/trackables/{trackable_id}/fences'),
      by.relations('are consistent with the fences of each object'),
    ],
  },
  {
    at: 'Endpoints row 8',
    says: 'The locating rules',
    tests: [
      ...walked('/trackables/rules/locating'),
      by.anchorsAndRules('the locating rules of the hub apply in every shard, also after a restart'),
    ],
  },
  {
    at: 'Endpoints row 9',
    says: 'The check of a rule',
    tests: [...walked('/validator/rules/locating'), ['api/rule_endpoints.test.ts', 'POST /validator/rules/locating']],
  },
  {
    at: 'Endpoints row 10',
    says: 'The sensors of a provider, read and set',
    tests: [
      ...walked('/providers/{provider_id}/sensors'),
      by.contractCase('sensors of a trackable are an array with those of all its providers that have some'),
    ],
  },
  {
    at: 'Endpoints row 11',
    says: 'The fences that a provider is in, by events or by geometry',
    tests: [
      ...walked('/providers/{provider_id}/fences'),
      by.relations('are consistent with the fences of each object'),
    ],
  },
  {
    at: 'Endpoints row 12',
    says: 'A list of proximities',
    tests: [
      ...walked('/providers/proximities'),
      by.waysIn('by PUT of a list is a location at its zone, and is published as received'),
    ],
  },
  {
    at: 'Endpoints row 13',
    says: 'A proximity of one provider',
    tests: [
      ...walked('/providers/{provider_id}/proximity'),
      by.waysIn('by PUT of one is a location at its zone, and is published as received'),
    ],
  },
  {
    at: 'Endpoints row 14',
    says: 'Zones, or the one with a foreign id',
    tests: [...walked('/zones', 'GET'), by.entities('zones are found by their foreign id')],
  },
  {
    at: 'Endpoints row 15',
    says: 'The same, as objects',
    tests: [...walked('/zones/summary'), by.entities('zones are found by their foreign id')],
  },
  {
    at: 'Endpoints row 16',
    says: 'The transformation of a zone, with a SimpleTransform: positions there and back',
    tests: [
      ...walked('/zones/{zone_id}/transform'),
      by.contractCase('transform converts positions of a zone to EPSG:4326 and back'),
    ],
  },
  {
    at: 'Endpoints row 17',
    says: 'A fence of the outline of a zone',
    tests: [
      ...walked('/zones/{zone_id}/createfence'),
      by.contractCase('a fence that createfence derives from a zone can be posted and entered'),
      by.contractCase('createfence makes the convex hull of the points of a zone, whatever their order'),
    ],
  },
  {
    at: 'Endpoints row 18',
    says: 'All fences, as objects',
    tests: [
      ...walked('/fences/summary'),
      by.entities('fence: create, read, replace and delete under /hub/v2 work, and publish every change'),
    ],
  },
  {
    at: 'Endpoints row 19',
    says: 'Events of a fence that others make',
    tests: [
      ...walked('/fences/{fence_id}/events'),
      by.anchorsAndRules('third-party events reach the subscribers of fence_events and of its GeoJSON'),
      by.contractCase('A posted fence event names exactly one of provider and trackable'),
    ],
  },
  {
    at: 'Endpoints row 20',
    says: 'The providers in a fence',
    tests: [...walked('/fences/{fence_id}/providers'), by.relations('objects in a fence')],
  },
  {
    at: 'Endpoints row 21',
    says: 'The trackables in a fence',
    tests: [...walked('/fences/{fence_id}/trackables'), by.relations('objects in a fence')],
  },
  {
    at: 'Endpoints row 22',
    says: 'The locations in a fence',
    tests: [...walked('/fences/{fence_id}/locations'), by.relations('objects in a fence')],
  },
  {
    at: 'Endpoints row 23',
    says: 'The motions in a fence',
    tests: [...walked('/fences/{fence_id}/motions'), by.relations('objects in a fence')],
  },
  {
    at: 'Endpoints row 24',
    says: 'Information and warnings of the license',
    tests: [
      ...walked('/license/info'),
      by.operation('at /license/info that its key is invalid, which has no other effect'),
      by.contractCase('/license/info needs no token, and everything else about the license does'),
    ],
  },
  {
    at: 'Endpoints row 25',
    says: 'A new license key',
    tests: [
      ...walked('/license/key'),
      by.license(
        'A license key is valid if a configured public key verifies it, whether it is set by configuration or by API',
      ),
      by.contractCase(
        'without a public key any string is stored as a license key, and /license/info says that it cannot be verified',
      ),
    ],
  },
  {
    at: 'Endpoints row 26',
    says: 'Whether the hub lives',
    tests: [
      ...walked('/health'),
      by.operation('its liveness at /health and its version at /version, with and without a version in the path'),
    ],
  },
  {
    at: 'Endpoints row 27',
    says: 'The health of the system',
    tests: [
      ...walked('/health/system'),
      by.operation('its start time and its configuration without secrets at /health/system'),
    ],
  },
  {
    at: 'Endpoints row 28',
    says: 'The health of the WebSocket',
    tests: [
      ...walked('/health/ws'),
      by.operation('the subscribers at /health/ws, with the time of the last frame to each'),
    ],
  },
  {
    at: 'Endpoints row 29',
    says: 'The health of all zones',
    tests: [...walked('/health/zones/summary'), by.operation('arrivals from the zones at /health/zones')],
  },
  {
    at: 'Endpoints row 30',
    says: 'The health of a zone',
    tests: [...walked('/health/zones/{zone_id}'), by.operation('arrivals from the zones at /health/zones')],
  },
  {
    at: 'Endpoints row 31',
    says: 'The health of all sources',
    tests: [
      ...walked('/health/sources/summary'),
      by.operation('arrivals from each source at /health/sources, by its name as it was sent'),
    ],
  },
  {
    at: 'Endpoints row 32',
    says: 'The health of a source',
    tests: [
      ...walked('/health/sources/{source_id}'),
      by.operation('arrivals from each source at /health/sources, by its name as it was sent'),
    ],
  },
  {
    at: 'Endpoints row 33',
    says: 'Notifications of a vendor, by PUT and POST',
    tests: [
      ...walked('/adapters/cisco/locations'),
      by.sources('Cisco notifications are forwarded by REST to a subscriber'),
    ],
  },
  {
    at: 'Endpoints row 34',
    says: 'Statistics of usage',
    tests: [
      ...walked('/stats/consumption/summary'),
      ...walked('/stats/consumption/current'),
      ...walked('/stats/consumption/{year}/{month}'),
      by.operation('the usage of this month at /stats/consumption'),
      ['e2e/kept_before.test.ts', 'A past month is returned as it was stored, in both versions'],
    ],
  },
  {
    at: 'Endpoints row 35',
    says: 'The WebSocket',
    tests: [
      by.frames('are the same on all paths of the WebSocket'),
      by.socketDocument('describes the commands that the hub accepts, and its responses'),
    ],
  },
];

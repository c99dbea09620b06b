import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Resources and their fields: zones, fences and their events, proximities, rules and the license. */
export const ZONES_AND_FENCES: readonly Statement[] = [
  {
    at: 'Zone row 1',
    says: 'A zone is found by its foreign_id',
    tests: [
      by.entities('zones are found by their foreign id'),
      by.contractCase('Ids and foreign ids of zones share a namespace'),
    ],
  },
  {
    at: 'Zone row 2',
    says: 'With incomplete_configuration, a zone may lack required members on POST and PUT',
    tests: [
      by.contractCase(
        'a zone without a required member is accepted on POST and PUT if and only if incomplete_configuration is true',
      ),
    ],
  },
  {
    at: 'Zone row 3',
    says: 'A proximity zone needs a position',
    tests: [by.contractCase('a proximity zone without a position is rejected')],
  },
  {
    at: 'Zone row 4',
    says: 'Other zones need ground control points, and a proximity zone must have none',
    tests: [
      by.contractCase(
        'a zone without a required member is accepted on POST and PUT if and only if incomplete_configuration is true',
      ),
      by.contractCase('a proximity zone with ground control points is rejected, also as an incomplete one'),
      by.contractCase('Moved ground control points carry fences and silent tags along, also after a restart'),
    ],
  },
  {
    at: 'Zone row 5',
    says: 'A mobile zone is moved by the hub',
    tests: [
      ['e2e/mobile_zones.test.ts', 'a zone follows the providers and trackables that it lists'],
      ['durability/mobile_zones.test.ts', 'A hub that is closed moves zones to the last location that it has accepted'],
      by.contractCase('A zone with control points that follows an object carries its local coordinates along'),
    ],
  },
  {
    at: 'Zone row 6',
    says: 'exit_delay is in the APIs of zones and fences',
    tests: [by.contractCase('exit_delay is in the APIs of zones and of fences, and of a fence that is made of a zone')],
  },
  {
    at: 'Zone sentence 1',
    says: 'Zones other than proximity zones may lack a position',
    tests: [by.contractCase('a zone with ground control points may have a position or none')],
  },
  {
    at: 'Zone sentence 2',
    says: 'A zone transforms positions, and becomes a fence',
    tests: [
      by.contractCase('transform converts positions of a zone to EPSG:4326 and back'),
      by.contractCase('a fence that createfence derives from a zone can be posted and entered'),
      by.contractCase('createfence makes the convex hull of the points of a zone, whatever their order'),
    ],
  },
  {
    at: 'Zone sentence 3',
    says: 'A fence may be a circle',
    tests: [
      by.entities('fence: create, read, replace and delete under /hub/v1 work, and publish every change'),
      by.contractCase('regions may be 2D or 3D and overlap: each fence has events of its own'),
    ],
  },
  {
    at: 'Fence row 1',
    says: 'Its name is called name',
    tests: [by.contractCase('the name of a fence is name, and not fence_name')],
  },
  {
    at: 'Fence row 2',
    says: 'Its region is GeoJSON, flat or with heights, and may overlap others',
    tests: [
      by.contractCase('regions may be 2D or 3D and overlap: each fence has events of its own'),
      ['core/event_order.test.ts', 'A location may cross any number of fences at once'],
    ],
  },
  {
    at: 'Fence row 3',
    says: 'properties are whatever the application likes',
    tests: [
      by.entities('fence: create, read, replace and delete under /hub/v2 work, and publish every change'),
      ['hardening/kept_values.test.ts', 'by entities, and in the events of a fence and of a motion'],
      by.contractCase('Entities of every kind preserve every digit of their properties, also across a restart'),
    ],
  },
  {
    at: 'Fence row 4',
    says: 'timeout ends a silent membership; 0, null, nothing and -1 never do',
    tests: [
      by.vectors('a fence timeout ends a silent membership at its deadline'),
      by.vectors('every location postpones the fence timeout'),
      by.vectors('a fence timeout of 0 is infinite'),
      by.vectors('a fence timeout of null is infinite'),
      by.vectors('a fence timeout of -1 is infinite'),
      by.contractCase('A fence timeout that is set while an object inside is silent makes it exit'),
      by.contractCase('A fence timeout that becomes infinite cancels the pending exit'),
    ],
  },
  {
    at: 'Fence row 5',
    says: 'Within exit_tolerance of the region, in meters, there is no exit',
    tests: [
      by.vectors('without any timeout an object may stay in the tolerance forever'),
      by.vectors('leaving the tolerance ends the membership at once'),
      by.contractCase('A tag that shakes at the top of a fence is held by the exit tolerance'),
    ],
  },
  {
    at: 'Fence row 6',
    says: 'One follows after tolerance_timeout, unless the object is observed inside again',
    tests: [
      by.vectors('the tolerance timeout is not restarted within the tolerance'),
      by.vectors('coming back inside stops the tolerance timeout'),
      by.vectors('an unset tolerance timeout is the fence timeout'),
    ],
  },
  {
    at: 'Fence row 7',
    says: 'exit_delay delays the exit',
    tests: [
      by.vectors('an exit delay runs from the first location outside'),
      by.vectors('coming back inside stops the exit delay'),
      by.vectors('an exit delay works without a tolerance timeout'),
    ],
  },
  {
    at: 'Fence event sentence 1',
    says: 'An event has the properties of its fence',
    tests: [
      by.topics('fence_events receive entries and exits of providers and of trackables'),
      ['hardening/kept_values.test.ts', 'by entities, and in the events of a fence and of a motion'],
      by.contractCase('Fence events carry every digit of the fence, and posted ones their own'),
    ],
  },
  {
    at: 'Fence event sentence 2',
    says: 'The hub makes it, or a third party posts it',
    tests: [
      by.vectors('without settings, entry and exit come at once'),
      by.anchorsAndRules('third-party events reach the subscribers of fence_events and of its GeoJSON'),
      by.contractCase('A posted fence event names exactly one of provider and trackable'),
    ],
  },
  {
    at: 'Proximity sentence 1',
    says: 'Proximity systems send proximities',
    tests: [
      by.waysIn('by POST of a list is a location at its zone, and is published as received'),
      by.waysIn('by WebSocket v1 is a location at its zone, and is published as received'),
      by.contractCase('A proximity must have a provider type that supports proximities'),
    ],
  },
  {
    at: 'Proximity sentence 2',
    says: 'A proximity becomes a location at the position of its zone',
    tests: [
      by.waysIn('by PUT of one is a location at its zone, and is published as received'),
      ['e2e/mobile_zones.test.ts', 'a proximity is at the new position of its zone, and moves zones that follow it'],
    ],
  },
  {
    at: 'Rule (locating rule) sentence 1',
    says: 'The rules of the hub are at /trackables/rules/locating',
    tests: [
      by.anchorsAndRules('the locating rules of the hub apply in every shard, also after a restart'),
      ['api/rule_endpoints.test.ts', 'is empty at first, replaced by PUT, and sent to the shards'],
      by.contractCase('Changed locating rules, of the hub or of a trackable, move it at once'),
    ],
  },
  {
    at: 'Rule (locating rule) sentence 2',
    says: 'The validator checks the expression of a rule',
    tests: [
      by.endpointTable('v1 POST /validator/rules/locating answers 204'),
      ['api/rule_endpoints.test.ts', 'POST /validator/rules/locating'],
      by.contractCase(
        'The validator accepts an expression with double quotes as plain text, as a JSON string and in an object',
      ),
    ],
  },
  {
    at: 'License sentence 1',
    says: 'There are information, warnings and a key of the license',
    tests: [
      by.operation('at /license/info that its key is invalid, which has no other effect'),
      by.license(
        'A license key is valid if a configured public key verifies it, whether it is set by configuration or by API',
      ),
      ['operation/license.test.ts', 'warns before the end, tolerates the grace period, and then has expired'],
    ],
  },
];

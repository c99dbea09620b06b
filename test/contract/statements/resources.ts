import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Resources and their fields: ids, locations, providers, trackables and their motions. */
export const RESOURCES: readonly Statement[] = [
  {
    at: 'Resources and their fields sentence 2',
    says: 'Ids are texts that the hub makes',
    tests: [by.contractCase('the hub generates ids, which are distinct strings')],
  },
  {
    at: 'Resources and their fields sentence 3',
    says: 'From version 2 on, a client may set them',
    tests: [
      by.contractCase('version 2 accepts the id of a client, version 1 generates its own'),
      by.entities('zone: create, read, replace and delete under /hub/v2 work, and publish every change'),
    ],
  },
  {
    at: 'Location row 1',
    says: 'position is a GeoJSON Point',
    tests: [
      by.waysIn('by PUT of one creates its provider once, is returned, and is published'),
      by.badInput('the hub rejects a location with'),
      by.contractCase(
        'Positions of zones and locations are rejected with an error that names the defect and its position',
      ),
    ],
  },
  {
    at: 'Location row 2',
    says: 'crs is the code of a projection, or local for the plane of a zone',
    tests: [
      by.views('UTM receives every position in it'),
      by.views('the coordinates of its zone receives every position in it'),
      by.contractCase('locations and fences at both poles are accepted and returned in EPSG:32661 and EPSG:32761'),
    ],
  },
  {
    at: 'Location row 3',
    says: 'timestamp_generated defaults to the current time',
    tests: [
      by.waysIn('by PUT of one may leave out time, source and crs'),
      by.waysIn('by WebSocket v2 may leave out time, source and crs'),
    ],
  },
  {
    at: 'Location row 4',
    says: 'provider_id names the provider, and is null in the event of a trackable',
    tests: [
      by.vectors('without settings, entry and exit come at once'),
      ['core/fence_event_texts.test.ts', 'of a trackable names no provider, and the trackable as the only one'],
    ],
  },
  {
    at: 'Location row 5',
    says: 'trackables are the ids of those that it belongs to',
    tests: [
      by.topics(
        'location_updates receive the locations of each provider in order, in EPSG:4326 and completed by the hub',
      ),
      ['core/location_filled_in.test.ts', 'with the trackables of its provider, in id order'],
    ],
  },
  {
    at: 'Location row 6',
    says: 'properties are whatever the application likes',
    tests: [
      by.waysIn('is returned with any id, source and properties that it was sent with'),
      ['hardening/kept_values.test.ts', 'properties are returned as they were sent'],
      by.contractCase(
        'Locations preserve every digit of their properties for every reader, whichever way they are sent',
      ),
    ],
  },
  {
    at: 'Location row 7',
    says: 'elevation_ref is read as the standard has it',
    tests: [
      ['core/location_filled_in.test.ts', 'with heights from the floor by default'],
      ['core/vertical.test.ts', 'in a fence'],
      ['ingest/check_location.test.ts', 'checkLocation rejects, and names field and value of'],
      by.contractCase(
        'Heights above the ellipsoid and above the floor are compared if the zone specifies the height of its floor',
      ),
    ],
  },
  {
    at: 'Location sentence 1',
    says: 'Locations can be had as GeoJSON',
    tests: [
      by.topics('a location as a point with its other members as properties'),
      by.views('longitude and latitude receives the same by REST'),
    ],
  },
  {
    at: 'Location sentence 2',
    says: 'It also has the time and the trackables',
    tests: [
      by.topics('a location as a point with its other members as properties'),
      [
        'core/location_views.test.ts',
        'as GeoJSON: a FeatureCollection with the position as geometry and the rest as properties',
      ],
    ],
  },
  {
    at: 'Location provider row 1',
    says: 'type is the technology of the provider',
    tests: [
      by.contractCase('a provider created by a location has the type of the location, and PUT sets the actual one'),
      by.waysIn('of another type leaves the type of its provider unchanged'),
    ],
  },
  {
    at: 'Location provider row 2',
    says: 'properties are whatever the application likes',
    tests: [
      by.entities('provider: create, read, replace and delete under /hub/v1 work, and publish every change'),
      ['hardening/kept_values.test.ts', 'properties are returned as they were sent'],
      by.contractCase('Entities of every kind preserve every digit of their properties, also across a restart'),
    ],
  },
  {
    at: 'Location provider row 3',
    says: 'sensors are whatever the application likes',
    tests: [
      by.contractCase('sensors of a trackable are an array with those of all its providers that have some'),
      ['api/assignment_endpoints.test.ts', 'are any JSON value, and 404 until they are set'],
      by.contractCase('Sensors set to null are absent, in whatever way they were set, also after a restart'),
      by.contractCase('Sensors preserve every digit of any JSON value'),
    ],
  },
  {
    at: 'Location provider row 4',
    says: 'timeout is in whole milliseconds, and infinite with -1',
    tests: [
      by.contractCase(
        'timeout of a provider and of a trackable is an integer in milliseconds that decides before that of the fence',
      ),
    ],
  },
  {
    at: 'Trackable row 1',
    says: 'properties are whatever the application likes',
    tests: [
      by.entities('trackable: create, read, replace and delete under /hub/v1 work, and publish every change'),
      by.topics('trackable_motions receive the trackable, its location and its shape'),
      by.contractCase('Entities of every kind preserve every digit of their properties, also across a restart'),
    ],
  },
  {
    at: 'Trackable row 2',
    says: 'With a radius a motion is a polygon, without one it is a point',
    tests: [
      by.topics('trackable_motions receive the trackable, its location and its shape'),
      by.changes('gives it its motion at once by force'),
      ['core/motions.test.ts', 'a point, with its height, without radius and polygon'],
      ['core/motions.test.ts', 'a closed counter-clockwise polygon of 64 segments, with a radius'],
    ],
  },
  {
    at: 'Trackable row 3',
    says: 'exit_tolerance replaces collision_tolerance',
    tests: [
      by.contractCase('collision_tolerance on a trackable is rejected in favor of exit_tolerance'),
      ['core/timing_chain.test.ts', 'effectiveTiming'],
    ],
  },
  {
    at: 'Trackable row 4',
    says: 'tolerance_timeout is in whole milliseconds, and infinite with -1',
    tests: [
      by.contractCase(
        '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay, wherever it is set',
      ),
      ['core/timing_chain.test.ts', 'effectiveTiming'],
    ],
  },
  {
    at: 'Trackable row 5',
    says: 'exit_delay is infinite with -1',
    tests: [
      by.contractCase(
        '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay, wherever it is set',
      ),
      by.contractCase("A provider's own exit delay takes effect at once on it and on the trackable at its location"),
    ],
  },
  {
    at: 'Trackable row 6',
    says: 'timeout, or fence_timeout, is infinite with -1',
    tests: [
      by.contractCase(
        '-1 is infinite for timeout, fence_timeout, tolerance_timeout and exit_delay, wherever it is set',
      ),
      by.contractCase(
        'timeout of a provider and of a trackable is an integer in milliseconds that decides before that of the fence',
      ),
      by.vectors("a trackable's fence timeout overrides the fence's, for its provider too"),
      by.contractCase("A trackable's own timeout takes effect at once on it and on its provider, by PUT and by PATCH"),
    ],
  },
  {
    at: 'Trackable row 7',
    says: 'Its providers are listed by their ids, none of them twice',
    tests: [
      by.contractCase('a trackable that names a provider twice is rejected on POST, PUT and PATCH'),
      by.relations('list each other, as objects in v2 and by their ids in v1'),
      by.contractCase(
        'A detached trackable keeps its fence, motion and collisions until its next location, also across a restart',
      ),
      by.contractCase('A detached trackable leaves everything with force_location_update, and when it is deleted'),
      by.contractCase(
        'A detached trackable that does not stay exits its fence, and its motion is deleted, also after a restart',
      ),
      by.contractCase('A trackable that does not stay falls back to its other tag when one is removed'),
    ],
  },
  {
    at: 'Trackable sentence 1',
    says: 'force_location_update moves it at once to a newer location of its providers',
    tests: [
      by.changes('the providers of a trackable takes effect with the next location, or at once by force'),
      by.changes('gives it its motion at once by force'),
      by.changes('a name changes the motion with the next location, or at once by force'),
      by.contractCase('A newly assigned tag acts from its next location on, or at once by force_location_update'),
    ],
  },
  {
    at: 'Trackable motion sentence 1',
    says: 'A motion has values of its trackable',
    tests: [
      by.topics('trackable_motions receive the trackable, its location and its shape'),
      ['core/motions.test.ts', 'name, extrusion and properties of its trackable, and the location'],
    ],
  },
  {
    at: 'Trackable motion sentence 2',
    says: 'It is a point or a polygon',
    tests: [
      ['core/motions.test.ts', 'a point, with its height, without radius and polygon'],
      ['core/motions.test.ts', 'a closed counter-clockwise polygon of 64 segments, with a radius'],
    ],
  },
  {
    at: 'Trackable motion sentence 3',
    says: 'It moves with its trackable',
    tests: [
      by.contractCase('a deleted trackable is found in no fence any more, and has no motion, however it is asked for'),
    ],
  },
  {
    at: 'Trackable motion sentence 4',
    says: 'An outdated location makes none',
    tests: [
      by.waysIn('by PUT of one that is older than the last one has no effect'),
      by.contractCase('an outdated location moves no trackable'),
    ],
  },
];

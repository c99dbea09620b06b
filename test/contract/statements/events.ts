import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Events: the WebSocket, its topics, and when events are published. */
export const EVENTS: readonly Statement[] = [
  {
    at: 'WebSocket API sentence 1',
    says: 'It is at wss://{host}/hub/v1/ws/socket',
    tests: [
      by.frames('are the same on all paths of the WebSocket'),
      [
        'e2e/tls.test.ts',
        'a hub with force_https announces that, serves REST and WebSocket, and changes its certificate on SIGHUP',
      ],
    ],
  },
  {
    at: 'WebSocket API sentence 2',
    says: 'Clients publish and subscribe there',
    tests: [
      by.socketDocument('describes the commands that the hub accepts, and its responses'),
      by.waysIn('by WebSocket v2 creates its provider once, is returned, and is published'),
      by.frames('that have ended receive nothing more, and others on the connection continue'),
    ],
  },
  {
    at: 'WebSocket API sentence 3',
    says: 'params of a subscription are the query parameters of REST: crs, geojson',
    tests: [
      by.contractCase('crs and geojson of params are those of the query parameters of REST'),
      by.views('UTM receives every position in it'),
    ],
  },
  {
    at: 'WebSocket API sentence 4',
    says: 'Subscriptions filter and transform',
    tests: [by.filters('a subscription'), by.views('the coordinates of another zone receives every position in it')],
  },
  {
    at: 'WebSocket API sentence 5',
    says: 'How long a session may be idle is a setting',
    tests: [by.contractCase('an idle session ends after the idle timeout, and an active one continues')],
  },
  {
    at: 'WebSocket API row 1',
    says: 'location_updates: locations',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics(
        'location_updates receive the locations of each provider in order, in EPSG:4326 and completed by the hub',
      ),
      by.contractCase('Every published location has the time at which the hub sent it'),
    ],
  },
  {
    at: 'WebSocket API row 2',
    says: 'location_updates:geojson: locations as GeoJSON',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics('a location as a point with its other members as properties'),
    ],
  },
  {
    at: 'WebSocket API row 3',
    says: 'fence_events: fence events',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics('fence_events receive entries and exits of providers and of trackables'),
    ],
  },
  {
    at: 'WebSocket API row 4',
    says: 'fence_events:geojson: fence events as GeoJSON',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics('a fence event as the region of its fence with the event, and the name and floor of the fence'),
    ],
  },
  {
    at: 'WebSocket API row 5',
    says: 'trackable_motions: motions with their shapes, as they happen',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics('trackable_motions receive the trackable, its location and its shape'),
      ['e2e/latency.test.ts', 'a subscriber in another process reads an entry within 20 ms of the PUT'],
    ],
  },
  {
    at: 'WebSocket API row 6',
    says: 'trackable_motions:geojson: motions as GeoJSON',
    tests: [
      by.socketDocument('describes all kinds of events of every topic'),
      by.topics('a motion as its shape with its other members as properties'),
    ],
  },
  {
    at: 'WebSocket API sentence 6',
    says: 'There are entries and exits, and starts and ends of collisions',
    tests: [
      by.topics('fence_events receive entries and exits of providers and of trackables'),
      by.topics('collision_events receive start, colliding and end, the mover first'),
    ],
  },
  {
    at: 'WebSocket API sentence 7',
    says: 'Others may post fence events',
    tests: [by.anchorsAndRules('third-party events reach the subscribers of fence_events and of its GeoJSON')],
  },
  {
    at: 'WebSocket API sentence 8',
    says: 'The removal of a trackable is published',
    tests: [
      by.contractCase('the removal of a trackable publishes its exits, the end of its collision, and a change'),
      by.changes('a trackable exits its fences, ends its collision, and deletes its motion'),
    ],
  },
  {
    at: 'WebSocket API sentence 9',
    says: 'Under load every event is sent',
    tests: [
      by.contractCase('under load every subscriber receives every event once and in order, even one that reads late'),
      by.frames('have at most 32 KiB in a burst of large locations, and none is missing'),
      ['socket/delivery.test.ts', 'A client that reads late, but within the bound, receives everything in order'],
    ],
  },
  {
    at: 'WebSocket API item 1',
    says: 'An exit follows the fence timeout, tolerance_timeout or exit_delay',
    tests: [
      by.vectors('a fence timeout ends a silent membership at its deadline'),
      by.vectors('the tolerance timeout is not restarted within the tolerance'),
      by.vectors('an exit delay runs from the first location outside'),
      by.vectors('a tolerance timeout shorter than the exit delay ends the membership first'),
    ],
  },
  {
    at: 'WebSocket API item 2',
    says: 'Removing a colliding object ends the collision',
    tests: [
      by.contractCase('the removal of a trackable publishes its exits, the end of its collision, and a change'),
      by.changes('a trackable exits its fences, ends its collision, and deletes its motion'),
    ],
  },
  {
    at: 'WebSocket API item 3',
    says: 'The event of a trackable has a null provider_id',
    tests: [
      by.vectors('without settings, entry and exit come at once'),
      ['core/fence_event_texts.test.ts', 'of a trackable names no provider, and the trackable as the only one'],
    ],
  },
  {
    at: 'WebSocket API item 4',
    says: 'A fence event has the properties of its fence and the ids of trackables',
    tests: [by.topics('fence_events receive entries and exits of providers and of trackables')],
  },
];

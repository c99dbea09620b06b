import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** States and transitions. */
export const STATES: readonly Statement[] = [
  {
    at: 'States and transitions sentence 2',
    says: 'Before an exit, an object may be in the tolerance or in a delay, and in no other state',
    tests: [
      by.vectors('the tolerance timeout is not restarted within the tolerance'),
      by.vectors('an exit delay runs from the first location outside'),
      by.vectors('without settings, entry and exit come at once'),
      [
        'core/membership_model.test.ts',
        'Providers and trackables cross a fence as the model predicts, for all timing values and positions',
      ],
    ],
  },
  {
    at: 'States and transitions sentence 3',
    says: 'Trackables collide from a start to an end',
    tests: [
      by.topics('collision_events receive start, colliding and end, the mover first'),
      [
        'core/collision_tracks.test.ts',
        'The events of a pair are start, colliding …, end, start …, and none is before the start',
      ],
      by.contractCase('A pair continues after a restart without a second start, and ends once when it separates'),
    ],
  },
  {
    at: 'States and transitions row 1',
    says: 'Removing a colliding object ends the collision',
    tests: [
      by.changes('a trackable exits its fences, ends its collision, and deletes its motion'),
      by.contractCase('the removal of a trackable publishes its exits, the end of its collision, and a change'),
      by.contractCase('Deleting a trackable ends its collision after a restart'),
    ],
  },
  {
    at: 'States and transitions row 2',
    says: 'A deleted trackable has no motion, and is found nowhere',
    tests: [
      by.contractCase('a deleted trackable is found in no fence any more, and has no motion, however it is asked for'),
    ],
  },
  {
    at: 'States and transitions row 3',
    says: 'A location without time is of now',
    tests: [
      by.waysIn('by PUT of one may leave out time, source and crs'),
      by.waysIn('by WebSocket v1 may leave out time, source and crs'),
    ],
  },
  {
    at: 'States and transitions row 4',
    says: 'An outdated location moves nothing',
    tests: [
      by.contractCase('an outdated location moves no trackable'),
      by.waysIn('by PUT of one that is older than the last one has no effect'),
    ],
  },
  {
    at: 'States and transitions row 5',
    says: 'A restart brings back fence timeouts from the last locations, and no tolerance or delay',
    tests: [
      by.contractCase(
        'a restart brings back fence timeouts, counted from the last location, and no tolerance and delay timers',
      ),
      by.restart(
        'After a crash, members are still inside, and timeouts that expired in the meantime are published once, after a delay',
      ),
      [
        'core/restart_properties.test.ts',
        'After a restart without new locations, each member exits once, at its own fence timeout, or never',
      ],
    ],
  },
];

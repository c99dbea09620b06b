import { problemWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CiscoWebhook } from '../../src/adapters/cisco/webhook.ts';
import { HubError } from '../../src/errors.ts';
import type { Location } from '../../src/model/location.ts';
import type { Zone } from '../../src/model/zone.ts';
import { hierarchies, NOTIFICATIONS, OFFICE, WORKS } from './cisco_samples.ts';

const { inFeet, inZoneOfVendor, geographic, association, nowhere } = NOTIFICATIONS;

describe('Hierarchies', () => {
  const zone = (id: string, foreign_id: string): Zone => ({ id, type: 'wifi', foreign_id });

  test('prefers an exact match, and forgets a zone with its name', () => {
    const known = hierarchies(zone('a', 'C>B>F'), zone('b', 'C -> B -> F'), zone('c', 'C>B>F>Room'));
    assert.equal(known.find('C>B>F')?.id, 'a');
    assert.equal(known.find('C -> B -> F')?.id, 'b');
    assert.equal(known.find(' C> B >F ')?.id, 'a');
    assert.equal(known.find('C>B>F>Room')?.id, 'c');
    assert.equal(known.find('C>B>F>Other')?.id, 'a');
    known.set('a', undefined);
    assert.equal(known.find('C>B>F')?.id, 'b');
    known.set('b', zone('b', 'D>E>F'));
    assert.equal(known.find('C>B>F'), undefined);
    known.set('c', undefined);
    assert.equal(known.find('C>B>F>Room'), undefined);
    assert.equal(known.find('D>E>F')?.id, 'b');
  });

  test('removes no segment from a hierarchy of three', () => {
    const known = hierarchies(zone('a', 'C>B'), zone('b', ''));
    assert.equal(known.find('C->B')?.id, 'a');
    assert.equal(known.find('C>B>F'), undefined);
    assert.equal(known.find(''), undefined);
  });

  test('takes no time for a string that is no hierarchy', () => {
    const known = hierarchies(zone('a', 'C>B>F'));
    assert.equal(known.find(' '.repeat(1_000_000)), undefined);
    assert.equal(known.find('>'.repeat(100_000)), undefined);
    assert.equal(known.find(`C>B>F>${'-'.repeat(1_000_000)}`)?.id, 'a');
  });
});

describe('CiscoWebhook', () => {
  function open(problems: readonly string[] = []) {
    const taken: Location[] = [];
    const names: string[] = [];
    const warned: object[] = [];
    const warn = (_: string, facts: object = {}) => void warned.push(facts);
    const webhook = new CiscoWebhook({
      deliver(locations, nameOf) {
        taken.push(...locations);
        names.push(...locations.map((_, index) => nameOf(index)));
        return { problems: problems.map(problemWith), committed: undefined };
      },
      now: () => 0,
      log: { debug: warn, info: warn, warn },
    });
    for (const zone of [OFFICE, WORKS]) webhook.zone(zone.id, zone);
    return { webhook, taken, names, warned };
  }

  for (const [name, body] of [
    ['its envelope', { notifications: [inFeet, inZoneOfVendor] }],
    ['a bare list', [inFeet, inZoneOfVendor]],
  ] as const) {
    test(`accepts the notifications of ${name} in order`, () => {
      const { webhook, taken } = open();
      assert.equal(webhook.accept(body), undefined);
      assert.deepEqual(
        taken.map(({ provider_id: id }) => id),
        [inFeet.deviceId, inZoneOfVendor.deviceId],
      );
    });
  }

  test('accepts a single notification, and an empty list', () => {
    const { webhook, taken } = open();
    webhook.accept(inFeet);
    webhook.accept({ notifications: [] });
    webhook.accept({ notifications: [association] });
    assert.equal(taken.length, 1);
  });

  test('accepts valid notifications among invalid ones, and names each by its index', () => {
    const { webhook, names, warned } = open();
    webhook.accept({ notifications: [nowhere, association, inFeet, geographic] });
    assert.deepEqual(names, ['notifications[2]', 'notifications[3]']);
    assert.equal(warned.length, 1);
  });

  const bad: readonly (readonly [name: string, body: unknown, message: string])[] = [
    ['an empty object', {}, 'notifications: must be an array, found nothing'],
    ['a text', 'x', 'body: must be an object, found "x"'],
    ['null', null, 'body: must be an object, found null'],
    ['another envelope', { StreamingNotification: {} }, 'notifications: must be an array, found nothing'],
    [
      'an object for the list',
      { notifications: inFeet.geoCoordinate },
      'notifications: must be an array, found {"latitude":-999,"longitude":-999,"unit":"DEGREES"}',
    ],
    ['a number among the notifications', [7], 'notifications[0]: must be an object, found 7'],
    ['an empty notification', [{}], 'notifications[0].deviceId: must be a string that is not empty, found nothing'],
    [
      'invalid ones among ignored ones',
      { notifications: [association, nowhere, { ...nowhere, deviceId: '' }] },
      'notifications[1].locationMapHierarchy: must be the foreign_id of a zone, found "Nowhere>B>F"; notifications[2].deviceId: must be a string that is not empty, found ""',
    ],
    ['too many', Array(1001).fill(inFeet), 'notifications: must have at most 1,000 elements, found 1,001'],
  ];
  for (const [name, body, message] of bad) {
    test(`rejects ${name}`, () => {
      const { webhook, taken } = open();
      assert.throws(() => webhook.accept(body), badRequest(message));
      assert.deepEqual(taken, []);
    });
  }

  test('names ten problems and the number of the others', () => {
    const { webhook } = open();
    assert.throws(() => webhook.accept(Array(15).fill(nowhere)), /(notifications\[\d\]\.[^;]*; ){10}and 5 more$/);
  });

  test('rejects locations that the hub rejects', () => {
    const { webhook } = open(['notifications[0].source: must name a zone']);
    assert.throws(() => webhook.accept([inFeet]), badRequest('notifications[0].source: must name a zone'));
    assert.equal(webhook.accept([inFeet, geographic]), undefined);
  });
});

function badRequest(message: string) {
  return (error: unknown) => {
    assert.ok(error instanceof HubError);
    assert.deepEqual([error.status, error.message], [400, message]);
    return true;
  };
}

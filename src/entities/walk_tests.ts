import { hubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { parseTime } from '../model/time.ts';
import { WalkTest } from '../model/walk_test.ts';
import { checkLonLat, onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(WalkTest);

/** Walk tests as stored documents. */
export const WALK_TESTS: DocumentKind<WalkTest> = {
  prefix: 'walk_test ',
  kind: 'walk_test',
  max: 100,
  check(body) {
    const test = onlyMembers(WalkTest, schema.parse(body));
    checkPoints(test);
    const startedMs = checkTime('started_at', test.started_at);
    const endedMs = checkTime('ended_at', test.ended_at);
    for (const [i, pass] of (test.passes ?? []).entries()) checkPass(test, pass, `${pathOf('passes', [String(i)])}.`);
    if (startedMs !== undefined && endedMs !== undefined && endedMs < startedMs) {
      throw hubError('ends_before_start', { path: 'ended_at', found: show(test.ended_at) });
    }
    return test;
  },
};

function checkPoints({ points }: WalkTest): void {
  const seen = new Map<string, number>();
  for (const [i, { id, position }] of (points ?? []).entries()) {
    const path = pathOf('points', [String(i)]);
    checkLonLat(position.coordinates, `${path}.position.coordinates`, 180);
    const before = seen.get(id);
    if (before !== undefined) {
      throw hubError('repeated', { path: `${path}.id`, member: `points[${before}].id`, found: show(id) });
    }
    seen.set(id, i);
  }
}

/**
 * Throws HUB_BAD_REQUEST unless the pass is of a point of the test and has a valid time. `prefix` precedes the members in
 * errors.
 */
export function checkPass(
  { points }: WalkTest,
  { point_id: id, time }: { point_id: string; time?: string | null },
  prefix: string,
): void {
  if (points?.some((point) => point.id === id) !== true) {
    throw hubError('not_a_walk_point', { path: `${prefix}point_id`, found: show(id) });
  }
  if (time == null) throw hubError('missing', { path: `${prefix}time` });
  checkTime(`${prefix}time`, time);
}

/** Returns the time in milliseconds; undefined if it is not set. Throws HUB_BAD_REQUEST. */
function checkTime(path: string, time: string | null | undefined): number | undefined {
  if (time == null) return undefined;
  const ms = parseTime(time);
  if (Number.isNaN(ms)) throw hubError('not_a_time', { path, found: show(time) });
  return ms;
}

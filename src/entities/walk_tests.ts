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
    const { startedMs, endedMs } = spanOf(test);
    if (endedMs < startedMs) throw hubError('ends_before_start', { path: 'ended_at', found: show(test.ended_at) });
    for (const [i, pass] of (test.passes ?? []).entries()) checkPass(test, pass, `${pathOf('passes', [String(i)])}.`);
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
 * Throws HUB_BAD_REQUEST unless the pass is of a point of the test and has a time during it. `prefix` precedes the members
 * in errors.
 */
export function checkPass(
  test: WalkTest,
  { point_id: id, time }: { point_id: string; time?: string | null },
  prefix: string,
): void {
  if (test.points?.some((point) => point.id === id) !== true) {
    throw hubError('not_a_walk_point', { path: `${prefix}point_id`, found: show(id) });
  }
  if (time == null) throw hubError('missing', { path: `${prefix}time` });
  const { startedMs, endedMs } = spanOf(test);
  const ms = checkTime(`${prefix}time`, time);
  if (ms < startedMs || ms > endedMs) throw hubError('outside_walk_test', { path: `${prefix}time`, found: show(time) });
}

/** Returns start and end of a test in milliseconds; infinite if they are not set. Throws HUB_BAD_REQUEST. */
function spanOf({ started_at: from, ended_at: to }: WalkTest): {
  readonly startedMs: number;
  readonly endedMs: number;
} {
  return {
    startedMs: from == null ? Number.NEGATIVE_INFINITY : checkTime('started_at', from),
    endedMs: to == null ? Number.POSITIVE_INFINITY : checkTime('ended_at', to),
  };
}

/** Returns the time in milliseconds. Throws HUB_BAD_REQUEST. */
function checkTime(path: string, time: string): number {
  const ms = parseTime(time);
  if (Number.isNaN(ms)) throw hubError('not_a_time', { path, found: show(time) });
  return ms;
}

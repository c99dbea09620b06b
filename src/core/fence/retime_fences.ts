import type { FenceState, Tracked } from '../state.ts';
import type { FenceIndex } from './fence_index.ts';
import { retimed } from './membership.ts';
import { areaOf, type Seen, timingIn } from './observe_fences.ts';

/**
 * The values that time an object in fences have changed, without an observation: the deadlines of its memberships are
 * counted anew from when each fence saw it last. `seen` is the object as it was seen then, with the values that apply
 * now. With `only`, the values of that fence alone have changed.
 */
export function retimeFences(index: FenceIndex, object: Tracked, seen: Seen, only: FenceState | undefined): void {
  object.members = object.members.filter((member) => {
    const { fence, membership, seenMs } = member;
    if (only !== undefined && fence !== only) return true;
    const timing = timingIn(fence, seen.timing);
    const area = areaOf(index, fence, seen, timing);
    const next = retimed(membership, { area, timing, seenMs, nowMs: seen.nowMs });
    if (next === undefined) {
      fence.occupants.delete(object);
      return false;
    }
    member.membership = next;
    return true;
  });
}

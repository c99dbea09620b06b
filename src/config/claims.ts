import { namesOfClaim } from '../model/claim_path.ts';
import { show } from '../model/error_value_text.ts';
import type { PartProblem } from './part_problems.ts';

const WANTED = 'must be a name, a path such as resource_access."plant.apps".roles, or a list of names';

/** Problems of the value of openid_role_claims. */
export function claimProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) return [{ path: [], text: `must be a list of claims, found ${show(value)}` }];
  return value.flatMap((claim: unknown, index) => {
    return isClaim(claim) ? [] : [{ path: [index], text: `${WANTED}, found ${show(claim)}` }];
  });
}

function isClaim(claim: unknown): boolean {
  if (typeof claim === 'string') return claim !== '' && namesOfClaim(claim) !== undefined;
  return Array.isArray(claim) && claim.length > 0 && claim.every((name) => typeof name === 'string' && name !== '');
}

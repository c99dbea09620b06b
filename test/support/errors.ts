import { HubError } from '../../src/errors.ts';
import { Problem } from '../../src/problem.ts';
import type { ErrorCode } from '../../src/reasons.ts';

/** Matches an error with this code and message, regardless of its reason. */
export function errorWith(code: ErrorCode, message: string): HubError {
  return new HubError(problemWith(message), { code, message });
}

/** Matches an INVALID_VALUE error with this message, regardless of its reason. */
export function problemWith(message: string): Problem {
  return Object.assign(new Problem({ reason: 'schema_mismatch', params: {} }), { toString: () => message });
}

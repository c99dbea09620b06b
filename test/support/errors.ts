import { HubError } from '../../src/errors.ts';
import { Problem } from '../../src/problem.ts';
import type { ErrorCode } from '../../src/reasons.ts';

/** An error with that code and message, whatever its reason. */
export function errorWith(code: ErrorCode, message: string): HubError {
  return new HubError(problemWith(message), { code, message });
}

/** An invalid value with that message, whatever its reason. */
export function problemWith(message: string): Problem {
  return Object.assign(new Problem({ reason: 'schema_mismatch', params: {} }), { toString: () => message });
}

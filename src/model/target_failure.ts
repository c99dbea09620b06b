import { HubError, messageOf } from '../errors.ts';
import { type Problem, problemOf } from '../problem.ts';
import type { ErrorReason } from '../reasons.ts';

/** Why a request to another server has failed, in a state: the English text, and the reason for other languages. */
export interface Failure {
  readonly why: string;
  readonly problem?: ErrorReason | undefined;
}

/** Returns a problem as a failure. */
export function failureOf(problem: Problem): Required<Failure> {
  return { why: String(problem), problem };
}

/** A failure whose English text is that of another server, or of a library. */
export function failureWith(
  reason: 'link_entities_invalid' | 'link_rejected' | 'link_reported' | 'target_rejects',
  why: string,
): Required<Failure> {
  return { why, problem: problemOf(reason, {}, why) };
}

const CERTIFICATE = 'target_certificate';
const UNREACHABLE = 'target_unreachable';
const LOST = 'target_connection_lost';
const NO_HOST = 'target_host_unknown';

/** Reasons by the codes of errors of Node.js and undici. */
const REASONS = {
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  CERT_HAS_EXPIRED: CERTIFICATE,
  CERT_NOT_YET_VALID: CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE,
  TARGET_REFUSED: 'target_not_allowed',
  ECONNREFUSED: 'target_refused',
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
  ECONNRESET: LOST,
  EPIPE: LOST,
  UND_ERR_SOCKET: LOST,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  UND_ERR_CONNECT_TIMEOUT: UNREACHABLE,
} as const;

/** Returns the reason of a failed request, by the errors that caused it. */
export function reasonOfFailure(error: unknown): ErrorReason {
  for (let each: unknown = error; each instanceof Error; each = causeOf(each)) {
    if (each instanceof HubError) return each;
    const code = String((each as { readonly code?: unknown }).code);
    if (Object.hasOwn(REASONS, code)) return problemOf(REASONS[code as keyof typeof REASONS], {}, each.message);
  }
  return problemOf('target_failed', {}, messageOf(error));
}

/** The error that caused another one: the last one of several attempts. */
function causeOf({ cause, errors }: Error & { readonly errors?: readonly unknown[] }): unknown {
  return errors?.findLast(Boolean) ?? cause;
}

import { Problem } from './problem.ts';
import { codeOf, type ErrorCode, type ErrorReason, type ParamsGiven, type Reason } from './reasons.ts';

/**
 * HTTP status and wire type of each code. api/ adds the configured prefix (default `com.flowcate`) to the wire type, or
 * replaces it by the plain word of the status.
 */
const CODES: Readonly<Record<ErrorCode, { readonly status: number; readonly type: string }>> = {
  HUB_BAD_REQUEST: { status: 400, type: '.http.bad_request' },
  HUB_NOT_AUTHENTICATED: { status: 401, type: '.auth.authenticated' },
  HUB_NOT_AUTHORIZED: { status: 403, type: '.auth.permission' },
  HUB_NOT_FOUND: { status: 404, type: '.http.not_found' },
  HUB_METHOD_NOT_ALLOWED: { status: 405, type: '.http.method_not_allowed' },
  HUB_GONE: { status: 410, type: '.http.gone' },
  HUB_PRECONDITION_FAILED: { status: 412, type: '.http.precondition_failed' },
  HUB_PAYLOAD_TOO_LARGE: { status: 413, type: '.http.payload_too_large' },
  HUB_FOREIGN_PAGE: { status: 403, type: '.auth.permission' },
  HUB_HOST_UNKNOWN: { status: 403, type: '.auth.permission' },
  HUB_ENCODING_UNKNOWN: { status: 415, type: '.http.bad_request' },
  HUB_TOO_MANY_REQUESTS: { status: 429, type: '.http.unavailable' },
  HUB_HEADERS_TOO_LARGE: { status: 431, type: '.http.payload_too_large' },
  HUB_UPGRADE_REQUIRED: { status: 426, type: '.http.bad_request' },
  HUB_INTERNAL: { status: 500, type: '.http.internal' },
  HUB_LICENSE_INVALID: { status: 400, type: '.license.invalid' },
  HUB_LICENSE_EXPIRED: { status: 400, type: '.license.expired' },
  HUB_LICENSE_NOT_STARTED: { status: 404, type: '.license.not_started' },
  HUB_UNAVAILABLE: { status: 503, type: '.http.unavailable' },
};

/** The message of an error; anything else as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface GivenError extends ErrorOptions {
  readonly message?: string;
  readonly code?: ErrorCode;
}

interface HubErrorOptions extends ErrorOptions {
  /** Text of a library for the message. */
  readonly detail?: string;
}

/** A failure that is returned to a client. The message says which operation failed, on what, and why. */
export class HubError extends Error implements ErrorReason {
  readonly code: ErrorCode;
  readonly reason: Reason;
  readonly params: ErrorReason['params'];

  /** `message` and `code`: those of the problem if absent. */
  constructor(problem: ErrorReason, { message, code, cause }: GivenError = {}) {
    super(message ?? String(problem), { cause });
    this.name = 'HubError';
    this.code = code ?? codeOf(problem.reason);
    this.reason = problem.reason;
    this.params = problem.params;
  }

  /** HTTP status of the response. */
  get status(): number {
    return CODES[this.code].status;
  }

  /**
   * Returns the body of the response. The type has a reverse-domain prefix, or is a plain word without one.
   */
  body(typePrefix: string | undefined) {
    const { status, type } = CODES[this.code];
    return {
      type: typePrefix === undefined ? plainType(status) : typePrefix + type,
      code: status,
      message: this.message,
      reason: this.reason,
      params: this.params,
    };
  }
}

/** Returns the error of a reason. */
export function hubError<R extends Reason>(
  reason: R,
  ...[params, options]: [...ParamsGiven<R>, options?: HubErrorOptions]
): HubError {
  const { detail, ...more } = (options ?? {}) as HubErrorOptions;
  return new HubError(new Problem({ reason, params: (params ?? {}) as ErrorReason['params'] }, detail), more);
}

/** An error sent by another hub of the cluster, which may have a later version. */
export interface SentError extends ErrorReason {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Returns an error in the form for another hub, which passes it on with its reason. */
export function sentError({ code, message, reason, params }: HubError): SentError {
  return { code, message, reason, params };
}

export function isSentError(value: unknown): value is SentError {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, reason, params } = value as Partial<Record<keyof SentError, unknown>>;
  return (
    [code, message, reason].every((text) => typeof text === 'string') && typeof params === 'object' && params !== null
  );
}

/** Later versions may have more codes. */
export function receivedError({ code, ...sent }: SentError): HubError {
  return new HubError(sent, { message: sent.message, code: Object.hasOwn(CODES, code) ? code : 'HUB_INTERNAL' });
}

/**
 * The error of several problems: the reason is that of the first one, and the message lists at most `shown` of them.
 */
export function errorOfAll(problems: readonly Problem[], shown: number): HubError {
  const [first = new Problem({ reason: 'schema_mismatch', params: {} })] = problems;
  const more = problems.length > shown ? [`and ${problems.length - shown} more`] : [];
  return new HubError(first, { message: [...problems.slice(0, shown), ...more].join('; ') });
}

/** Returns the v1 error type of a status. Clients compare these words, so v1's spelling is preserved. */
export function plainType(status: number): string {
  if (status === 401 || status === 403) return 'unathorized';
  if (status === 404) return 'not found';
  if (status === 409) return 'conflict';
  return status < 500 ? 'bad request' : 'server error';
}

/** A failed start: its message is the one line that the user sees. */
export class StartupError extends Error {
  override name = 'StartupError';
}

/**
 * Error codes with HTTP status and wire type. api/ adds the configured prefix (default `com.flowcate`) to the wire
 * type, or replaces it by the plain word of the status.
 */
const CATALOGUE = {
  HUB_BAD_REQUEST: { status: 400, type: '.http.bad_request' },
  HUB_NOT_AUTHENTICATED: { status: 401, type: '.auth.authenticated' },
  HUB_NOT_AUTHORIZED: { status: 403, type: '.auth.permission' },
  HUB_NOT_FOUND: { status: 404, type: '.http.not_found' },
  HUB_METHOD_NOT_ALLOWED: { status: 405, type: '.http.method_not_allowed' },
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
} as const;

export type ErrorCode = keyof typeof CATALOGUE;

/** Whether a string from outside is an error code. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(CATALOGUE, text);
}

/** A failure that is returned to a client. The message says which operation failed, on what, and why. */
export class HubError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'HubError';
    this.code = code;
  }

  /** HTTP status of the response. */
  get status(): number {
    return CATALOGUE[this.code].status;
  }

  /**
   * Returns the body of the response: {type, code, message}. The type has a reverse-domain prefix, or is a plain word
   * without one.
   */
  body(typePrefix: string | undefined): { type: string; code: number; message: string } {
    const { status, type } = CATALOGUE[this.code];
    return {
      type: typePrefix === undefined ? plainType(status) : typePrefix + type,
      code: status,
      message: this.message,
    };
  }
}

/** Returns the v1 error type of a status: clients compare these words, so v1's spelling is preserved. */
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

import type { HubError } from '../errors.ts';
import type { ReplyBody, HttpReply, TextReply } from '../exchange.ts';
import { type ErrorTyping, errorTypePrefixIn, versionOf } from './versions.ts';

type Headers = Readonly<Record<string, string>>;

/** Allows pages of any origin to read replies; browsers send no credentials such as cookies. */
const CORS: Headers = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Location, Link, Retry-After, Allow, WWW-Authenticate, Warning, Owner-Hub, ETag',
};

/** Prevents browsers from interpreting JSON as a page. */
const NOT_GUESSED: Headers = { 'X-Content-Type-Options': 'nosniff' };

const OWN_PAGES: Headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ...NOT_GUESSED,
  'Referrer-Policy': 'no-referrer',
  // They change only with the version of the hub, whose URL stays the same.
  'Cache-Control': 'max-age=600',
};

/** Headers with advice for some errors. */
const ADVICE: Readonly<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': '1' },
};

/** Replies of the API. Headers are created once, so that a hot route allocates none. */
export class ReplyFactory {
  /** 204. */
  readonly noContent: HttpReply;
  /** 304. */
  readonly notModified: HttpReply;
  readonly #errorTyping: ErrorTyping;
  readonly #cors: Headers;
  readonly #json: Headers;

  constructor(options: { readonly corsEnabled: boolean } & ErrorTyping) {
    this.#errorTyping = options;
    this.#cors = options.corsEnabled ? CORS : {};
    this.#json = { 'Content-Type': 'application/json', ...NOT_GUESSED, ...this.#cors };
    this.noContent = { status: 204, headers: this.#cors };
    this.notModified = { status: 304, headers: this.#cors };
  }

  /** 200 with JSON. */
  json(text: ReplyBody): HttpReply {
    return { status: 200, headers: this.#json, body: text };
  }

  /** 200 with a page or a file of one. A page may load only from this hub, and run no inline script. */
  file(mediaType: string, text: string): HttpReply {
    return { status: 200, headers: { 'Content-Type': mediaType, ...OWN_PAGES }, body: text };
  }

  /** 201 with the entity's JSON and its path. */
  created(text: string, path: string): HttpReply {
    return { status: 201, headers: { ...this.#json, Location: path }, body: text };
  }

  /** The error as {type, code, message}; its type has the form of the path's version. */
  error(error: HubError, path: string, headers: Headers = {}): TextReply {
    return {
      status: error.status,
      headers: { ...this.#json, ...ADVICE[error.status], ...headers },
      body: JSON.stringify(error.body(errorTypePrefixIn(versionOf(path), this.#errorTyping))),
    };
  }

  /** 204 for OPTIONS: the methods of a path, and for a browser's preflight the permitted headers. */
  options(allow: string): HttpReply {
    const preflight: Headers =
      this.#cors === CORS
        ? {
            'Access-Control-Allow-Methods': allow,
            // The wildcard does not include Authorization.
            'Access-Control-Allow-Headers': 'Authorization, Content-Type, *',
            'Access-Control-Max-Age': '600',
          }
        : {};
    return { status: 204, headers: { ...this.#cors, ...preflight, Allow: allow } };
  }
}

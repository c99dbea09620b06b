import { hubError, type HubError } from '../errors.ts';
import type { Browsers } from './browsers.ts';
import type { Addressed, PeerAddress } from './forwarded.ts';
import { clientOf, type RateLimit } from './rate_limit.ts';

/** Parts of a request that are checked before its body is read. */
export interface GuardedRequest {
  /** Total size of the names and values of all headers. */
  readonly headerBytes: number;
  header(name: string): string | undefined;
}

export interface GuardOptions {
  readonly headerMaxBytes: number;
  /** Rate limit; undefined for none. */
  readonly limit: RateLimit | undefined;
  readonly browsers: Browsers;
  readonly peerAddress: PeerAddress;
}

/** Rejects HTTP and WebSocket requests by their headers and by their rate. */
export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Returns why a request is rejected; undefined if it is accepted. `isChange`: the request may change data or opens a
   * WebSocket. hot: once per request.
   */
  problemOf(request: GuardedRequest, response: Addressed, isChange: boolean): HubError | undefined {
    const { headerMaxBytes, limit, browsers } = this.#options;
    if (limit !== undefined && !limit.allows(this.clientOf(response))) {
      return hubError('too_many_requests');
    }
    if (request.headerBytes > headerMaxBytes) {
      return hubError('headers_too_large', {
        path: 'headers',
        limit: headerMaxBytes,
        found: request.headerBytes,
      });
    }
    const encoding = request.header('content-encoding');
    if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
      return hubError('encoding_unknown', {
        path: 'Content-Encoding',
        found: JSON.stringify(encoding.slice(0, 40)),
      });
    }
    return browsers.problemOf(request, response, isChange);
  }

  /** Whether the client may send another frame. */
  allowsFrame(client: string): boolean {
    return this.#options.limit?.allows(client) ?? true;
  }

  /** Returns the key under which requests of the client are counted; empty without a rate limit. */
  clientOf(response: Addressed): string {
    return this.#options.limit === undefined ? '' : this.addressOf(response);
  }

  /** Returns the key of the client's address. */
  addressOf(response: Addressed): string {
    return clientOf(this.#options.peerAddress(response));
  }
}

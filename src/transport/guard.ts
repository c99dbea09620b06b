import { HubError } from '../errors.ts';
import type { Browsers } from './browsers.ts';
import type { Addressed, PeerAddress } from './forwarded.ts';
import { clientOf, type RateLimit } from './rate_limit.ts';

/** The parts of a request that are checked before its body is read. */
export interface GuardedRequest {
  /** Names and values of all headers together. */
  readonly headerBytes: number;
  header(name: string): string | undefined;
}

export interface GuardOptions {
  readonly headerMaxBytes: number;
  /** Undefined for no limit. */
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
   * Why a request is rejected; undefined if it is not. `isChange`: it may change something, or opens a WebSocket. hot:
   * once per request.
   */
  problemOf(request: GuardedRequest, response: Addressed, isChange: boolean): HubError | undefined {
    const { headerMaxBytes, limit, browsers } = this.#options;
    if (limit !== undefined && !limit.allows(this.clientOf(response))) {
      return new HubError('HUB_TOO_MANY_REQUESTS', 'Cannot take the request: this address sends too many of them');
    }
    if (request.headerBytes > headerMaxBytes) {
      const what = `headers: must have at most ${headerMaxBytes} bytes, found ${request.headerBytes}`;
      return new HubError('HUB_HEADERS_TOO_LARGE', what);
    }
    const encoding = request.header('content-encoding');
    if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
      const what = `Content-Encoding: must be identity, found ${JSON.stringify(encoding.slice(0, 40))}`;
      return new HubError('HUB_ENCODING_UNKNOWN', what);
    }
    return browsers.problemOf(request, response, isChange);
  }

  /** Whether the client may send one more frame. */
  allowsFrame(client: string): boolean {
    return this.#options.limit?.allows(client) ?? true;
  }

  /** Key under which requests of the client are counted; empty if they are not. */
  clientOf(response: Addressed): string {
    return this.#options.limit === undefined ? '' : this.addressOf(response);
  }

  /** Key of the client's address. */
  addressOf(response: Addressed): string {
    return clientOf(this.#options.peerAddress(response));
  }
}

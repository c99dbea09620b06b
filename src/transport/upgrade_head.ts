import type { PeerHead } from '../exchange.ts';
import type { Incoming } from './guard.ts';
import type { NativeRequest } from './native.ts';

/** An upgrade request. The native one is gone when its handler returns, so all of it is copied. */
export class UpgradeHead implements PeerHead, Incoming {
  readonly path: string;
  readonly query: string;
  headerBytes = 0;
  readonly #headers = new Map<string, string>();

  constructor(native: NativeRequest) {
    this.path = native.getUrl();
    this.query = native.getQuery() ?? '';
    native.forEach((name, value) => {
      this.headerBytes += name.length + value.length;
      if (!this.#headers.has(name)) this.#headers.set(name, value);
    });
  }

  /** The first of that name, which is in lower case. */
  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  get userAgent(): string {
    return this.header('user-agent') ?? '';
  }

  get authorization(): string | undefined {
    return this.header('authorization');
  }

  get key(): string {
    return this.header('sec-websocket-key') ?? '';
  }

  get protocol(): string {
    return this.header('sec-websocket-protocol') ?? '';
  }

  get extensions(): string {
    return this.header('sec-websocket-extensions') ?? '';
  }
}

import { messageOf } from '../errors.ts';
import type { OutgoingSocket } from '../links/link_runner.ts';
import type { Source } from '../model/source.ts';
import { authorizationOf, type Connector, type ConnectorDeps, type ConnectorEvents } from './connector.ts';

const CONNECT_MS = 10_000;
/** A connection without a message or a pong for two intervals is closed. */
const PING_MS = 20_000;

/** Connects to a WebSocket whose messages are payloads. Sends the source's open_message first, if it has one. */
export function openWebSocket(source: Source, events: ConnectorEvents, deps: ConnectorDeps): Connector {
  const url = source.url ?? '';
  let socket: OutgoingSocket | undefined;
  let isClosed = false;
  let isAlive = true;
  const fail = (why: string): void => {
    if (isClosed) return;
    close();
    events.failed(why);
  };
  let cancelTimer = deps.schedule(CONNECT_MS, () => fail(`not connected in ${CONNECT_MS} ms`));
  const close = (): void => {
    isClosed = true;
    cancelTimer();
    socket?.close();
  };
  const watch = (): void => {
    cancelTimer();
    cancelTimer = deps.schedule(PING_MS, () => {
      if (!isAlive) {
        fail(`nothing received for ${2 * PING_MS} ms`);
        return;
      }
      isAlive = false;
      socket?.ping();
      watch();
    });
  };
  const open = async (): Promise<void> => {
    // Addresses in URLs are not looked up.
    const { hostname, protocol } = new URL(url);
    const why = deps.whyNotHost(hostname);
    if (why !== undefined) throw new Error(why);
    // The error of the WebSocket does not contain the reason. A proxy resolves the hosts of wss itself.
    if (protocol === 'ws:') await deps.resolve(hostname);
    const opened = await deps.openSocket(
      url,
      {
        opened() {
          if (source.open_message != null) socket?.send(source.open_message);
          watch();
          if (!isClosed) events.opened();
        },
        message(content) {
          isAlive = true;
          if (!isClosed) events.received({ content });
        },
        pong: () => {
          isAlive = true;
        },
        closed: ({ why }) => fail(why),
      },
      authorizationOf(source),
    );
    socket = opened;
    if (isClosed) opened.close();
  };
  open().catch((error: unknown) => fail(messageOf(error)));
  return { close };
}

import type { Socket } from 'node:net';
import { LineSplitter } from '../adapters/iso24730/line_splitter.ts';
import { messageOf } from '../errors.ts';
import type { Source } from '../model/source.ts';
import type { Connector, ConnectorDeps, ConnectorEvents } from './connector.ts';
import { dial } from './dial.ts';

const CONNECT_MS = 10_000;

/** Connects to a TCP or TLS server that sends one payload per line. The hub sends nothing. */
export function openTcp(source: Source, events: ConnectorEvents, deps: ConnectorDeps): Connector {
  const url = new URL(source.url ?? '');
  let socket: Socket | undefined;
  let isClosed = false;
  const fail = (why: string): void => {
    if (isClosed) return;
    close();
    events.failed(why);
  };
  const cancelTimeout = deps.schedule(CONNECT_MS, () => fail(`not connected in ${CONNECT_MS} ms`));
  const close = (): void => {
    isClosed = true;
    cancelTimeout();
    socket?.destroy();
  };
  const isTls = url.protocol === 'tls:';
  dial({ url, isTls, resolve: deps.resolve }).then(
    (opened) => {
      socket = opened;
      opened.on('error', (error) => fail(messageOf(error)));
      if (isClosed) {
        opened.destroy();
        return;
      }
      const lines = new LineSplitter();
      let overlong = 0;
      opened.on(isTls ? 'secureConnect' : 'connect', () => {
        cancelTimeout();
        events.opened();
      });
      opened.on('data', (chunk: Uint8Array) => {
        for (const line of lines.push(chunk)) events.received({ content: line, sender: url.hostname });
        events.dropped(lines.overlongLines - overlong);
        overlong = lines.overlongLines;
      });
      opened.on('close', () => fail('the server has closed the connection'));
    },
    (error: unknown) => fail(messageOf(error)),
  );
  return { close };
}

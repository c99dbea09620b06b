import { createSocket } from 'node:dgram';
import { messageOf } from '../errors.ts';
import type { Source } from '../model/source.ts';
import type { Connector, ConnectorEvents } from './connector.ts';

/** Receives datagrams on a port, each of them a payload. IPv4 senders have IPv4 addresses. */
export function openUdp({ port }: Source, events: ConnectorEvents): Connector {
  const socket = createSocket({ type: 'udp6', ipv6Only: false });
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    socket.close();
  };
  socket.on('message', (content, { address }) => {
    if (!isClosed) events.received({ content, sender: address.replace(/^::ffff:/, '') });
  });
  socket.on('listening', () => events.opened());
  socket.on('error', (error) => {
    if (isClosed) return;
    close();
    events.failed(messageOf(error));
  });
  socket.bind(port ?? 0);
  return { close };
}

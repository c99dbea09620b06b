import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { listen } from '../../src/transport/server.ts';
import { echo, SOCKET_PATH } from './harness.ts';

/**
 * Opens connections that wait for authentication, one by one, and prints as JSON how many respond and how many close.
 */

const CONNECTIONS = 500;

const server = await listen({
  host: '127.0.0.1',
  port: 0,
  bodyMaxBytes: 1_000_000,
  frameMaxBytes: 10_000,
  idleTimeoutSeconds: 60,
  handleHttp: () => ({ status: 404 }),
  handlePeer: echo,
  knowPeer: async () => {
    await nextTurn();
    return true;
  },
  socketPaths: [SOCKET_PATH],
  refuse: ({ status }) => ({ status, body: '' }),
});
let answered = 0;
let ended = 0;
for (let i = 0; i < CONNECTIONS; i++) {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${SOCKET_PATH}`);
  await once(socket, 'open');
  const closed = once(socket, 'close').then(() => ended++);
  socket.send('x');
  await Promise.race([once(socket, 'message').then(() => answered++), closed]);
}
console.log(JSON.stringify({ answered, ended }));
await server.close();

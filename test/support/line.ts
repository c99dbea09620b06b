import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** The network between a client and a hub: it can fail in ways that neither of the two can bring about. */
export interface Line {
  readonly port: number;
  /** Port of the hub at the other end; undefined: nobody is there. */
  target: number | undefined;
  /** Cuts all connections. */
  drop(): void;
  /** Lets nothing come back any more on the present connections, and leaves them open. */
  mute(): void;
}

/** Opens a line to a hub's port. */
export async function openLine(t: TestContext, hubPort: number): Promise<Line> {
  const ends = new Set<readonly [Socket, Socket]>();
  const line = { target: hubPort as number | undefined };
  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (line.target === undefined) {
      client.destroy();
      return;
    }
    const hub = connect(line.target, '127.0.0.1');
    const pair = [client, hub] as const;
    ends.add(pair);
    hub.on('error', () => undefined);
    client.pipe(hub);
    hub.pipe(client);
    for (const end of pair) {
      end.on('close', () => {
        ends.delete(pair);
        client.destroy();
        hub.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const drop = (): void => {
    for (const [client] of ends) client.destroy();
  };
  t.after(() => {
    drop();
    server.close();
  });
  return Object.assign(line, {
    port: address.port,
    drop,
    mute() {
      for (const [, hub] of ends) hub.unpipe();
    },
  });
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { TestContext } from 'node:test';

interface PrefixProxyOptions {
  readonly port?: number;
  /** Port of the hub. */
  readonly to: number;
  /** Path prefix, such as `/rtls`. */
  readonly prefix: string;
  /**
   * Whether the proxy strips the prefix and sends X-Forwarded-Prefix, as nginx does with a path in `proxy_pass`.
   * Otherwise it forwards the path unchanged.
   */
  readonly strips: boolean;
}

/** A reverse proxy that serves a hub below a prefix, with its own name for the hub in Host. */
export async function openPrefixProxy(t: TestContext, { port = 0, to, prefix, strips }: PrefixProxyOptions) {
  /** Paths of requests outside the prefix. */
  const outside: string[] = [];
  const passedOn = ({ url = '', headers }: IncomingMessage) => {
    if (!url.startsWith(`${prefix}/`)) {
      outside.push(url);
      return undefined;
    }
    const said = { ...headers, host: `hub.internal:${to}`, 'x-forwarded-host': headers.host };
    return strips
      ? { path: url.slice(prefix.length), headers: { ...said, 'x-forwarded-prefix': prefix } }
      : { path: url, headers: said };
  };
  const proxy = createServer((asked, answer) => {
    const sent = passedOn(asked);
    if (sent === undefined) {
      answer.writeHead(404).end();
      return;
    }
    const onward = request({ host: '127.0.0.1', port: to, method: asked.method, ...sent }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  proxy.on('upgrade', (asked, socket, head) => {
    const sent = passedOn(asked);
    if (sent === undefined) {
      socket.destroy();
      return;
    }
    const onward = connect(to, '127.0.0.1', () => {
      const lines = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      onward.write(`GET ${sent.path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  proxy.listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close().closeAllConnections());
  return { origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, outside };
}

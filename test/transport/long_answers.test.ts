import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ListenOptions } from '../../src/transport/server.ts';
import { Unsent } from '../../src/transport/unsent.ts';
import { raw, serve } from './harness.ts';

const PART = 'ä'.repeat(40_000);
const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** A server that answers every request with this many parts, and counts the parts generated. */
async function serveParts(t: TestContext, count: number, options: Partial<ListenOptions> = {}) {
  const made = { parts: 0, ended: 0 };
  function* parts(): Generator<string, void> {
    try {
      for (let i = 0; i < count; i++) {
        made.parts++;
        // An empty part must not end the body.
        yield i === 1 ? '' : `${i} ${PART}`;
      }
    } finally {
      made.ended++;
    }
  }
  const handleHttp = () => ({ status: 200, body: { parts: { [Symbol.iterator]: parts } } });
  return { ...(await serve(t, { handleHttp, ...options })), made };
}

function textOf(count: number): string {
  return Array.from({ length: count }, (_, i) => (i === 1 ? '' : `${i} ${PART}`)).join('');
}

/** A client that has sent a request, has read the start of the response, and then stops reading. */
async function sleeper(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(GET);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** Resolves when a number has stayed the same over many requests to a server. */
async function settled(url: string, number: () => number): Promise<number> {
  for (let same = 0, last = number(); same < 150; last = number()) {
    await fetch(url, { method: 'HEAD' });
    same = number() === last ? same + 1 : 0;
  }
  return number();
}

test('A long response is sent in chunks, and the connection stays open', async (t) => {
  const { url, port, made } = await serveParts(t, 50);
  assert.equal(await (await fetch(url)).text(), textOf(50));
  const answers = await raw(port, [GET], /\r\n0\r\n\r\n$/);
  assert.match(answers, /^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Transfer-Encoding: chunked\r\n\r\n/);
  assert.ok(!/content-length/i.test(answers.slice(0, 500)));
  assert.equal(made.ended, 2);
  // Several on one connection.
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let read = '';
  socket.on('data', (chunk: Buffer) => {
    read += chunk.toString('latin1');
  });
  for (let answered = 1; answered <= 3; answered++) {
    socket.write(GET);
    while (read.split('\r\n0\r\n\r\n').length <= answered) await once(socket, 'data');
  }
  assert.equal(made.ended, 5);
});

test('Parts are generated as the client reads, whatever their size', async (t) => {
  for (const part of ['x'.repeat(70_000), 'y'.repeat(4_000_000)]) {
    const count = 200_000_000 / part.length;
    let made = 0;
    function* parts(): Generator<string, void> {
      for (; made < count; made++) yield part;
    }
    const handleHttp = () => ({ status: 200, body: { parts: parts() } });
    const { port, url } = await serve(t, { handleHttp });
    const socket = await sleeper(t, port);
    const unread = await settled(url, () => made);
    // Socket buffers of the system hold some megabytes.
    assert.ok(unread * part.length < 20_000_000, `${unread} parts of ${part.length} made without a reader`);
    let bytes = 0;
    const all = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (String(chunk).endsWith('\r\n0\r\n\r\n')) resolve();
      });
    });
    socket.resume();
    await all;
    assert.equal(made, Math.ceil(count));
    assert.ok(bytes > made * part.length - 100_000);
  }
});

test('Unread bytes of all clients are bounded, and clients that do not read are disconnected', async (t) => {
  const unsent = new Unsent(1_000_000);
  const { url, port, made } = await serveParts(t, 1000, { unsent });
  await Promise.all(Array.from({ length: 20 }, () => sleeper(t, port)));
  await settled(url, () => made.parts);
  // Each waiting client counts for at least 128 KiB.
  assert.ok(made.ended >= 12, `${made.ended} ended`);
  assert.ok(made.ended < 20);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
});

test('Memory that a body owns counts until the body has been read', async (t) => {
  function* parts(): Generator<string, void> {
    for (let i = 0; i < 1000; i++) yield PART;
  }
  const handleHttp = () => ({ status: 200, body: { parts: parts(), ownBytes: 600_000 } });
  const { port, url } = await serve(t, { handleHttp, unsent: new Unsent(1_000_000) });
  assert.equal((await (await fetch(url)).text()).length, 1000 * PART.length);
  const first = await sleeper(t, port);
  const ended = once(first, 'close');
  first.resume();
  first.pause();
  await sleeper(t, port);
  first.resume();
  await ended;
});

test('Generation stops when the client disconnects', async (t) => {
  const { url, port, made } = await serveParts(t, 10_000);
  const reading = connect(port, '127.0.0.1');
  reading.write(GET);
  for (let n = 0; n < 5; n++) await once(reading, 'data');
  reading.destroy();
  const waiting = await sleeper(t, port);
  waiting.destroy();
  await settled(url, () => made.ended);
  assert.equal(made.ended, 2);
  assert.ok(made.parts < 1000, `${made.parts} parts`);
});

test('For many clients at once, each turn of the event loop generates one part', async (t) => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const turns: number[] = [];
  function* parts(): Generator<string, void> {
    for (let i = 0; i < 20; i++) {
      turns.push(turn);
      yield PART;
    }
  }
  const handleHttp = () => ({ status: 200, body: { parts: { [Symbol.iterator]: parts } } });
  const { url } = await serve(t, { handleHttp });
  const texts = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(url)).text()));
  isOver = true;
  assert.ok(texts.every((text) => text === PART.repeat(20)));
  // Their first parts are generated with the requests.
  const made = turns.length - new Set(turns).size;
  assert.ok(made <= 20, `${made} parts in a turn that another had`);
});

test('HEAD generates no part, and HTTP/1.0, which has no chunks, is rejected', async (t) => {
  const { url, port, made } = await serveParts(t, 5);
  const answers = await raw(port, ['HEAD / HTTP/1.1\r\nHost: h\r\n\r\n', GET], /\r\n0\r\n\r\n$/);
  assert.match(answers, /^HTTP\/1\.1 200 OK\r\n(?!Content-Length)(.+\r\n)*\r\nHTTP\/1\.1 200 OK/);
  assert.equal(made.parts, 5);
  assert.match(await raw(port, ['GET / HTTP/1.0\r\n\r\n'], /^$/), /^HTTP\/1\.1 505/);
  assert.equal(made.parts, 5);
  assert.equal((await fetch(url)).status, 200);
});

test('A part that fails closes the connection, and is reported', async (t) => {
  function* parts(): Generator<string, void> {
    yield PART;
    throw new Error('a fault');
  }
  const handleHttp = () => ({ status: 200, body: { parts: parts() } });
  const { port, reported } = await serve(t, { handleHttp });
  assert.ok(!(await raw(port, [GET], /\r\n0\r\n\r\n$/)).endsWith('0\r\n\r\n'));
  assert.match(String(reported[0]), /a fault/);
});

test('A connection that must close does so after the last chunk', async (t) => {
  const { port } = await serveParts(t, 30);
  const request = 'GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
  assert.ok((await raw(port, [request], /^$/)).endsWith('\r\n0\r\n\r\n'));
  assert.ok(
    (await raw(port, [GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')], /^$/)).endsWith('\r\n0\r\n\r\n'),
  );
});

test('A shutdown waits until long responses are sent', async (t) => {
  const { port, server } = await serveParts(t, 80);
  const answer = raw(port, [GET], /^$/);
  const other = await sleeper(t, port);
  other.resume();
  await server.close();
  assert.ok((await answer).endsWith('\r\n0\r\n\r\n'));
});

/** A server that fetches parts, and the number fetched. `fetchPart` may be asynchronous, or reject. */
async function serveFetched(t: TestContext, count: number, fetchPart: (i: number) => Promise<void> | void) {
  const fetched = { parts: 0, ended: 0 };
  async function* parts(): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 0; i < count; i++) {
        await fetchPart(i);
        fetched.parts++;
        yield Buffer.from(`${i} ${PART}`);
      }
    } finally {
      fetched.ended++;
    }
  }
  const reports: unknown[] = [];
  const handleHttp = () => ({ status: 200, body: { parts: { [Symbol.asyncIterator]: parts } } });
  return { ...(await serve(t, { handleHttp, report: (error) => void reports.push(error) })), fetched, reports };
}

test('Parts are fetched as the client reads, and none after it has disconnected', async (t) => {
  const { url, port, fetched, reports } = await serveFetched(t, 10_000, () => undefined);
  const socket = await sleeper(t, port);
  const unread = await settled(url, () => fetched.parts);
  assert.ok(unread * PART.length < 20_000_000, `${unread} parts fetched without a reader`);
  socket.destroy();
  await settled(url, () => fetched.ended);
  assert.equal(fetched.ended, 1);
  assert.deepEqual(reports, []);
});

test('A part that cannot be fetched closes the connection, so the response is visibly incomplete', async (t) => {
  const { url, fetched, reports } = await serveFetched(t, 10, (i) => {
    if (i === 5) throw new Error('no more');
  });
  const response = await fetch(url);
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  assert.deepEqual([fetched.parts, fetched.ended], [5, 1]);
  assert.equal(reports.length, 1);
});

test('A part that fails because its client has disconnected is no error of the hub', async (t) => {
  let fail: (() => void) | undefined;
  const { url, port, fetched, reports } = await serveFetched(t, 10, (i) =>
    i < 1 ? undefined : new Promise((_, reject) => (fail = () => reject(new Error('the client has left')))),
  );
  const socket = await sleeper(t, port);
  await settled(url, () => (fail === undefined ? 0 : 1));
  socket.destroy();
  await settled(url, () => 0);
  fail?.();
  await settled(url, () => fetched.ended);
  assert.deepEqual([fetched.ended, reports], [1, []]);
});

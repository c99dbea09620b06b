import { createServer, type Socket } from 'node:net';

/**
 * A substitute for Tile38 in tests of the benchmark. It implements the part of the protocol that the benchmark uses,
 * with a linear search of fences, in a separate process with the options of the real one.
 */
interface Fence {
  readonly name: string;
  isIn(lon: number, lat: number): boolean;
}

const METERS_PER_DEGREE = 111_320;

const fences: Fence[] = [];
const places = new Map<string, readonly [lon: number, lat: number]>();
const subscribers = new Set<Socket>();

const handlers: Record<string, (words: readonly string[], socket: Socket) => string> = {
  PING: () => '+PONG\r\n',
  CHANS: () => '*0\r\n',
  PSUBSCRIBE(words, socket) {
    subscribers.add(socket);
    return `*3\r\n${text('psubscribe')}${text(words[1] ?? '')}:1\r\n`;
  },
  SETCHAN(words) {
    const [, name = '', , key, word, detect, events, shape, ...rest] = words;
    if (`${key} ${word} ${detect} ${events}` !== 'fleet FENCE DETECT enter,exit') return '-ERR invalid argument\r\n';
    fences.push({ name, isIn: shape === 'OBJECT' ? polygon(rest[0] ?? '') : circle(rest.map(Number)) });
    return ':1\r\n';
  },
  SET([, key, id = '', , field, value, , ...coordinates]) {
    const [lat = Number.NaN, lon = Number.NaN] = coordinates.map(goNumber);
    if (Number.isNaN(lat + lon)) return `-ERR invalid argument '${coordinates}'\r\n`;
    const before = places.get(id);
    places.set(id, [lon, lat]);
    for (const { name, isIn } of fences) {
      const [was, is] = [before !== undefined && isIn(...before), isIn(lon, lat)];
      if (was === is) continue;
      const seen = { command: 'set', detect: is ? 'enter' : 'exit', hook: name, key, id };
      const event = JSON.stringify({ ...seen, object: { type: 'Point' }, fields: { [field ?? '']: Number(value) } });
      const message = `*4\r\n${text('pmessage')}${text('*')}${text(name)}${text(event)}`;
      for (const subscriber of subscribers) subscriber.write(message);
    }
    return '+OK\r\n';
  },
};

/** Go accepts no spaces around a number. */
function goNumber(word: string): number {
  return /^[+-]?\d+(\.\d*)?$/.test(word) ? Number(word) : Number.NaN;
}

function text(word: string): string {
  return `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
}

function circle([lat = 0, lon = 0, meters = 0]: readonly number[]): Fence['isIn'] {
  const shrink = Math.cos((lat * Math.PI) / 180);
  return (x, y) => Math.hypot((x - lon) * shrink, y - lat) * METERS_PER_DEGREE <= meters;
}

function polygon(json: string): Fence['isIn'] {
  const [ring = []] = (JSON.parse(json) as { coordinates: [number, number][][] }).coordinates;
  return (x, y) => {
    let isIn = false;
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [[xi, yi], [xj, yj]] = [ring[i] as [number, number], ring[j] as [number, number]];
      if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) isIn = !isIn;
    }
    return isIn;
  };
}

/** Removes complete commands from the start of the received bytes; returns the rest. */
function answer(held: string, socket: Socket): string {
  let at = 0;
  let answers = '';
  for (;;) {
    const head = /\*(\d+)\r\n/y;
    head.lastIndex = at;
    const count = Number(head.exec(held)?.[1] ?? 0);
    const words: string[] = [];
    let next = head.lastIndex;
    while (words.length < count) {
      const size = /\$(\d+)\r\n/y;
      size.lastIndex = next;
      const length = Number(size.exec(held)?.[1] ?? Number.NaN);
      next = size.lastIndex + length + 2;
      if (!(next <= held.length)) break;
      words.push(held.slice(size.lastIndex, size.lastIndex + length));
    }
    if (count === 0 || words.length < count) break;
    answers += handlers[words[0] ?? '']?.(words, socket) ?? '-ERR unknown command\r\n';
    at = next;
  }
  if (answers !== '') socket.write(answers);
  return held.slice(at);
}

const option = (name: string): string => process.argv[process.argv.indexOf(name) + 1] ?? '';

createServer((socket) => {
  let held = '';
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    held = answer(held + bytes.toString('latin1'), socket);
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => subscribers.delete(socket));
}).listen(Number(option('-p')), option('-h'));

import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { type Dice, hostileJson } from './hostile_values.ts';

interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
  readonly isLast?: boolean;
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** Declared length of the frame. */
  readonly length?: number;
}

const TEXT = 1;
const EVENTS = [
  'subscribe',
  'subscribe',
  'subscribe',
  'message',
  'message',
  'message',
  'unsubscribe',
  'subscribed',
  'error',
  '__proto__',
  '',
];
const TOPICS = [...TOPIC_NAMES, 'location_updates', 'proximity_updates', 'constructor', '__proto__', 'x'.repeat(5000)];

/** Bytes of a frame that only attackers or faulty clients send. Most leave the connection open. */
export function hostileFrame(dice: Dice): Buffer {
  if (dice.oneIn(25)) return encoded(broken(dice), dice);
  return encoded({ opcode: TEXT, payload: Buffer.from(text(dice)) }, dice);
}

function text(dice: Dice): string {
  // Invalid JSON is rejected quickly, so there is little of it.
  const json = (): string => {
    for (;;) {
      const made = Buffer.from(hostileJson(dice)).toString('utf8');
      if (isJson(made) || dice.oneIn(20)) return made;
    }
  };
  if (dice.oneIn(6)) return json();
  if (dice.oneIn(3)) return `{"event":"message","topic":"location_updates","payload":[${json()},${json()}]}`;
  const members = [`"event":"${dice.one(EVENTS)}"`, `"topic":${JSON.stringify(dice.one(TOPICS))}`];
  if (!dice.oneIn(3)) members.push(`"payload":${dice.oneIn(4) ? json() : `[${json()},${json()}]`}`);
  if (dice.oneIn(2)) members.push(`"params":${dice.oneIn(3) ? json() : params(dice)}`);
  if (dice.oneIn(4)) members.push(`"subscription_id":${json()}`);
  if (dice.oneIn(20)) members.push(`"__proto__":${json()}`);
  return `{${members.join(',')}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function params(dice: Dice): string {
  const names = [
    'crs',
    'zone_id',
    'floor',
    'provider_id',
    'fence_id',
    'accuracy',
    'geojson',
    'token',
    '__proto__',
    'x',
  ];
  const values = [
    'null',
    '1e999',
    '"\\ud800"',
    '{"__proto__":1}',
    '[1,[2]]',
    '"EPSG:32632"',
    '"hall"',
    '-1',
    '"1,2;3"',
  ];
  return `{"${dice.one(names)}":${dice.one(values)},"${dice.one(names)}":${dice.one(['"local"', '[]', '{}', '1', '"a,b,,"'])}}`;
}

/** Frames that violate the protocol. */
function broken(dice: Dice): Frame {
  const payload = Buffer.from('{"event":"x"}');
  return dice.one<Frame>([
    { opcode: 2, payload: dice.bytes(50) },
    { opcode: TEXT, payload: Buffer.from([0x22, 0xff, 0xfe, 0x22]) },
    { opcode: TEXT, payload, reserved: 4 },
    { opcode: TEXT, payload, reserved: 1 },
    { opcode: 0, payload },
    { opcode: 3, payload },
    { opcode: 11, payload },
    { opcode: 9, payload: Buffer.alloc(126) },
    { opcode: 9, payload, isLast: false },
    { opcode: 8, payload: Buffer.from([0x03]) },
    { opcode: 8, payload: Buffer.from([0xff, 0xff]) },
    { opcode: TEXT, payload, isMasked: false },
    { opcode: TEXT, payload, length: 2 ** 40 },
    { opcode: TEXT, payload: Buffer.alloc(0) },
    { opcode: 10, payload: Buffer.alloc(125) },
  ]);
}

function encoded(frame: Frame, dice: Dice): Buffer {
  const { opcode, payload, isLast = true, reserved = 0, isMasked = true, length = payload.length } = frame;
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = (isMasked ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (!isMasked) return Buffer.concat([head, payload]);
  const mask = dice.bytes(4);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0))]);
}

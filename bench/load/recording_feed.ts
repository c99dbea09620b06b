// hot: run for each message that is sent
import type { Feed, Message } from './feed.ts';
import type { RecordingPlan } from './plan.ts';
import { busiestStart, type Cursor, placeAt, readRecording, type Track } from './recording.ts';
import { findSlots, type Slots, type Stamp, writeCoordinate } from './slots.ts';

/** Digits of the length of a body. Leading zeros are permitted. */
const LENGTH_DIGITS = 7;
const HEAD = `PUT /hub/v2/providers/locations HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nContent-Length: `;
const BODY_AT = HEAD.length + LENGTH_DIGITS + 4;

interface Aircraft {
  readonly cursor: Cursor;
  readonly bytes: Buffer;
  readonly slots: Slots;
}

interface Group {
  readonly members: readonly Aircraft[];
  readonly body: Buffer;
  window: number;
}

/**
 * A recording as if each of its providers had sent at a fixed rate. Time is divided into windows of one step. A
 * connection has a share of the providers, and its message contains those recorded in the window. After the end it
 * starts over.
 */
export class RecordingFeed implements Feed {
  readonly messagesPerRound: number;
  readonly #windows: number;
  readonly #startMs: number;
  readonly #stepMs: number;
  readonly #groups: readonly Group[];
  readonly #place: [number, number] = [0, 0];

  constructor({ path, hz, connections, lengthMs }: RecordingPlan) {
    const tracks = readRecording(path);
    this.#startMs = busiestStart(tracks, lengthMs);
    this.#stepMs = 1000 / hz;
    this.#windows = Math.floor(lengthMs / this.#stepMs);
    this.messagesPerRound = connections;
    this.#groups = Array.from({ length: connections }, (_, index) => {
      const members = tracks.filter((__, i) => i % connections === index).map(aircraftOf);
      const bytes = members.reduce((sum, { bytes }) => sum + bytes.length + 1, BODY_AT + 2);
      const body = Buffer.alloc(bytes);
      body.write(HEAD, 'latin1');
      body.write('\r\n\r\n[', BODY_AT - 4, 'latin1');
      return { members, body, window: 0 };
    });
  }

  /** Average number of locations per message. */
  locationsPerMessage(): number {
    const endMs = this.#startMs + this.#windows * this.#stepMs;
    const seconds = this.#groups.flatMap(({ members }) =>
      members.map(({ cursor: { track } }) => {
        const from = Math.max(track.ms[0] ?? 0, this.#startMs);
        return Math.max(0, Math.min(track.ms.at(-1) ?? 0, endMs) - from);
      }),
    );
    const locations = seconds.reduce((sum, ms) => sum + Math.floor(ms / this.#stepMs) + 1, 0);
    return locations / (this.#windows * this.#groups.length);
  }

  next(connection: number, stamp: Stamp): Message {
    const group = this.#groups[connection]!;
    const { body } = group;
    const ms = this.#startMs + group.window * this.#stepMs;
    if (group.window === 0) for (const { cursor } of group.members) cursor.at = 0;
    group.window = group.window + 1 === this.#windows ? 0 : group.window + 1;
    let at = BODY_AT + 1;
    let locations = 0;
    for (const { cursor, bytes, slots } of group.members) {
      const times = cursor.track.ms;
      if (ms < times[0]! || ms > times[times.length - 1]!) continue;
      placeAt(cursor, ms, this.#place);
      writeCoordinate(bytes, slots.lonAt, this.#place[0]);
      writeCoordinate(bytes, slots.latAt, this.#place[1]);
      bytes.set(stamp.bytes, slots.stampAt);
      if (locations > 0) body[at++] = 0x2c;
      body.set(bytes, at);
      at += bytes.length;
      locations++;
    }
    body[at++] = 0x5d;
    body.write(String(at - BODY_AT).padStart(LENGTH_DIGITS, '0'), HEAD.length, 'latin1');
    return { bytes: body.subarray(0, at), locations };
  }
}

function aircraftOf(track: Track): Aircraft {
  const bytes = Buffer.from(track.text);
  return { cursor: { track, at: 0 }, bytes, slots: findSlots(bytes, [0])[0] as Slots };
}

// hot: run for each frame that is read
import { Latencies } from '../load/latencies.ts';

/**
 * Finds the events of a topic without parsing them, by a string that each contains once and by the position of the
 * time.
 */
export interface Marks {
  readonly object: string;
  readonly times: readonly string[];
  /** The one of `times` whose events are also measured by themselves. */
  readonly apart?: string;
}

export const MARKS: Readonly<Record<string, Marks>> = {
  location_updates: { object: '"provider_type":"', times: ['"timestamp_generated":"'] },
  fence_events: { object: '"fence_id":"', times: ['"exit_time":"', '"entry_time":"'], apart: '"exit_time":"' },
  trackable_motions: { object: '"location":{', times: ['"timestamp_generated":"'] },
  collision_events: { object: '"collision_type":"', times: ['"end_time":"', '"collision_time":"', '"start_time":"'] },
};

/** Number of frames whose count is compared with the result of JSON.parse. */
const CHECKED_FRAMES = 50;
const LIST = 0x5b;
const MESSAGE = Buffer.from('{"event":"message"');

/**
 * Counts the events in frames of one topic, and measures the age of the first event of each frame, or of every event.
 */
export class EventCounter {
  readonly #agesOfAll: boolean;
  readonly #object: Buffer;
  readonly #times: readonly Buffer[];
  /** Index of the time whose events are also measured by themselves; -1 for none. */
  readonly #apart: number;
  readonly latencies = new Latencies();
  readonly latenciesApart = new Latencies();
  readonly #nowUs: () => number;
  #checked = 0;
  #second = '';
  #secondUs = 0;
  objects = 0;
  frames = 0;
  bytes = 0;

  constructor({ object, times, apart = '' }: Marks, nowUs: () => number, { agesOfAll = false } = {}) {
    this.#agesOfAll = agesOfAll;
    this.#object = Buffer.from(object);
    this.#times = times.map((time) => Buffer.from(time));
    this.#apart = times.indexOf(apart);
    this.#nowUs = nowUs;
  }

  /** Processes a text frame. Frames that are not messages are not counted. */
  frame(payload: Buffer): void {
    if (payload.compare(MESSAGE, 0, MESSAGE.length, 0, MESSAGE.length) !== 0) return;
    const { count, second } = this.#marksIn(payload);
    this.#add(payload, count);
    if (this.#checked < CHECKED_FRAMES) this.#check(payload, count);
    if (this.#agesOfAll) this.#recordAll(payload);
    else this.#record(payload, second);
  }

  /** Processes the payload of an MQTT message: one event, or a list of them. Measures the age of the first. */
  payload(payload: Buffer, isFirst: boolean): void {
    this.#add(payload, payload[0] === LIST ? this.#marksIn(payload).count : 1);
    if (isFirst) this.#record(payload, payload.length);
  }

  #add(payload: Buffer, count: number): void {
    this.frames++;
    this.objects += count;
    this.bytes += payload.length;
  }

  /** Number of events, and the offset of the second one; without one, the length of the payload. */
  #marksIn(payload: Buffer): { readonly count: number; readonly second: number } {
    const object = this.#object;
    let count = 0;
    let second = payload.length;
    for (let at = payload.indexOf(object); at >= 0; at = payload.indexOf(object, at + object.length)) {
      if (count === 1) second = at;
      count++;
    }
    return { count, second };
  }

  #recordAll(payload: Buffer): void {
    const object = this.#object;
    for (let at = payload.indexOf(object); at >= 0; ) {
      const next = payload.indexOf(object, at + object.length);
      const event = payload.subarray(at, next < 0 ? payload.length : next);
      this.#record(event, event.length);
      at = next;
    }
  }

  #record(payload: Buffer, before: number): void {
    for (const [i, time] of this.#times.entries()) {
      const at = payload.indexOf(time);
      if (at < 0 || at > before) continue;
      const ageUs = this.#nowUs() - this.#timeAt(payload, at + time.length);
      this.latencies.record(ageUs);
      if (i === this.#apart) this.latenciesApart.record(ageUs);
      return;
    }
  }

  /** The time at an offset, in microseconds since 1970. */
  #timeAt(payload: Buffer, from: number): number {
    const second = payload.toString('latin1', from, from + 19);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondUs = Date.parse(`${second}Z`) * 1000;
    }
    let fractionUs = 0;
    let unit = 100_000;
    // The decimal point is the twentieth character.
    for (let i = from + 20; unit >= 1 && payload[i]! >= 0x30 && payload[i]! <= 0x39; i++) {
      fractionUs += (payload[i]! - 0x30) * unit;
      unit /= 10;
    }
    return this.#secondUs + fractionUs;
  }

  #check(payload: Buffer, count: number): void {
    this.#checked++;
    const { payload: events } = JSON.parse(payload.toString()) as { payload: unknown[] };
    if (events.length === count) return;
    throw new Error(`${this.#object}: marks ${count} of the ${events.length} events of a frame`);
  }
}

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type FrameFields, FrameReader, FrameWriter, newRing } from './frame_ring.ts';
import type { AreaMessage, BusSettings, BusThreadData } from './frames.ts';

const BUS_WORKER = new URL('../../../workers/bus.ts', import.meta.url);

/** Twice what the largest frame needs, of which each ring must hold one wherever it begins. */
const RING_BYTES = 16 << 20;
/** What of the thread's heap there may be. Its buffers lie elsewhere. */
const HEAP_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Events of one turn, in bytes: others have theirs in between. */
const TURN_BYTES = 1 << 20;
/** Memory that the thread knows at a time. */
const AREAS_MAX = 64;

/** A piece of memory that the thread can read. */
interface Area {
  readonly number: number;
  /** Appends that refer to it and have no result. */
  uses: number;
}

export interface LinkWatch {
  /** Looks at the event that has come. */
  event(events: FrameReader): void;
  /** The thread has ended, and all that it has told was looked at. Nothing comes any more. */
  ended(why: string): void;
}

/** The front thread's end of one thread of the bus: two rings, and a message only to wake who sleeps. */
export class ThreadLink {
  readonly #data: BusThreadData;
  readonly #commands: FrameWriter;
  readonly #events: FrameReader;
  readonly #areaPort: MessagePort;
  readonly #areas = new Map<SharedArrayBuffer, Area>();
  readonly #watch: LinkWatch;
  /** Undefined until it is started. */
  #worker: Worker | undefined;
  #areaNumbers = 0;
  #isWaking = false;
  #isDraining = false;
  #why = '';

  /** What is said before the thread is started waits for it. */
  constructor(settings: BusSettings, watch: LinkWatch) {
    const commands = newRing(RING_BYTES);
    const events = newRing(RING_BYTES);
    const { port1, port2 } = new MessageChannel();
    this.#commands = new FrameWriter(commands);
    this.#events = new FrameReader(events);
    this.#areaPort = port1;
    this.#watch = watch;
    this.#data = { settings, commands, events, areas: port2 };
  }

  start(): void {
    const worker = new Worker(BUS_WORKER, {
      name: 'bus',
      workerData: this.#data satisfies BusThreadData,
      transferList: [this.#data.areas],
      resourceLimits: HEAP_MB,
    });
    worker.on('message', () => this.#drain());
    worker.on('error', ({ message }) => {
      this.#why = `: ${message}`;
    });
    worker.on('exit', () => this.#end());
    this.#worker = worker;
  }

  /** Gives a command. False, and nothing happens, where there is no room for it. */
  send(command: FrameFields): boolean {
    if (!this.#commands.write(command)) return false;
    if (this.#isWaking) return true;
    this.#isWaking = true;
    // All that is said in this turn is heard together.
    queueMicrotask(() => {
      this.#isWaking = false;
      if (this.#commands.wakes()) this.#worker?.postMessage(0);
    });
    return true;
  }

  hasRoomFor(messages: readonly Uint8Array[]): boolean {
    const sizes = messages.map((bytes) => (bytes.buffer instanceof SharedArrayBuffer ? 0 : bytes.length));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return this.#commands.hasRoomFor(bytes, { frames: sizes.length, largest: Math.max(...sizes) });
  }

  /** Where shared bytes lie, for a command that refers to them; the bytes themselves where they are not shared. */
  place(bytes: Uint8Array): Pick<FrameFields, 'area' | 'third' | 'length' | 'body'> {
    const { buffer, byteOffset, length } = bytes;
    if (!(buffer instanceof SharedArrayBuffer)) return { body: bytes };
    return { area: this.#area(buffer).number, third: byteOffset, length };
  }

  use(bytes: Uint8Array): void {
    if (bytes.buffer instanceof SharedArrayBuffer) this.#area(bytes.buffer).uses++;
  }

  /** Ends one use. */
  free(bytes: Uint8Array): void {
    const area = this.#areas.get(bytes.buffer as SharedArrayBuffer);
    if (area !== undefined) area.uses--;
  }

  /** Ends the thread at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#worker === undefined) this.#end();
    await this.#worker?.terminate();
  }

  #area(memory: SharedArrayBuffer): Area {
    const known = this.#areas.get(memory);
    if (known !== undefined) return known;
    if (this.#areas.size >= AREAS_MAX) this.#forgetUnused();
    const area = { number: ++this.#areaNumbers, uses: 0 };
    this.#areas.set(memory, area);
    this.#areaPort.postMessage({ area: area.number, memory } satisfies AreaMessage);
    return area;
  }

  /** Whoever takes new memory again and again has what it had before given back. */
  #forgetUnused(): void {
    for (const [memory, { number, uses }] of this.#areas) {
      if (uses > 0) continue;
      this.#areas.delete(memory);
      this.#areaPort.postMessage({ area: number } satisfies AreaMessage);
    }
  }

  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    let bytes = 0;
    while (bytes < TURN_BYTES && this.#events.next()) {
      bytes += this.#events.size;
      this.#hear();
    }
    this.#isDraining = false;
    if (bytes >= TURN_BYTES || !this.#events.sleeps()) setImmediate(() => this.#drain());
  }

  /** What a listener throws is its own fault, and uncaught, as from any event. The next event is heard all the same. */
  #hear(): void {
    try {
      this.#watch.event(this.#events);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
    this.#events.release();
  }

  #end(): void {
    while (this.#events.next()) this.#hear();
    this.#areaPort.close();
    this.#watch.ended(`the bus thread has ended${this.#why}`);
  }
}

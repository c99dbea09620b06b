import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type FrameFields, FrameReader, FrameWriter, newRing } from './frame_ring.ts';
import type { AreaMessage, BusSettings, BusThreadData } from './frames.ts';

const BUS_WORKER = new URL('../../../workers/bus.ts', import.meta.url);

/** Twice the largest frame, so that one fits at any position. */
const RING_BYTES = 16 << 20;
/** Limits of the thread's heap, in which its buffers do not count. */
const HEAP_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Bytes of events handled in one turn, so that other tasks get their turns. */
const TURN_BYTES = 1 << 20;
/** Number of shared areas registered with the thread before unused ones are released. */
const AREAS_MAX = 64;

/** A piece of memory that the thread can read. */
interface Area {
  readonly number: number;
  /** Number of appends that refer to it and have no result yet. */
  uses: number;
}

export interface LinkWatch {
  /** Called with each event, as the current frame. */
  event(events: FrameReader): void;
  /** Called once the thread has exited and all of its events were handled. */
  ended(why: string): void;
}

/** The front thread's link to the thread of the bus: two rings, and messages only to wake a sleeping thread. */
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

  /** Commands sent before the start wait for it. */
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

  /** Sends a command. Returns false, and sends nothing, if there is no room for it. */
  send(command: FrameFields): boolean {
    if (!this.#commands.write(command)) return false;
    if (this.#isWaking) return true;
    this.#isWaking = true;
    // One message wakes the thread for all commands of this turn.
    queueMicrotask(() => {
      this.#isWaking = false;
      if (this.#commands.wakes()) this.#worker?.postMessage(0);
    });
    return true;
  }

  /** Whether there is room for one command with each of these messages. */
  hasRoomFor(messages: readonly Uint8Array[]): boolean {
    const sizes = messages.map((bytes) => (bytes.buffer instanceof SharedArrayBuffer ? 0 : bytes.length));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return this.#commands.hasRoomFor(bytes, { frames: sizes.length, largest: Math.max(...sizes) });
  }

  /** Fields of a command that carry the bytes: their position if they are shared, otherwise the bytes themselves. */
  place(bytes: Uint8Array): Pick<FrameFields, 'area' | 'third' | 'length' | 'body'> {
    const { buffer, byteOffset, length } = bytes;
    if (!(buffer instanceof SharedArrayBuffer)) return { body: bytes };
    return { area: this.#area(buffer).number, third: byteOffset, length };
  }

  /** Counts a call that refers to the bytes, so that the thread keeps their memory. */
  use(bytes: Uint8Array): void {
    if (bytes.buffer instanceof SharedArrayBuffer) this.#area(bytes.buffer).uses++;
  }

  /** Ends one such use. */
  free(bytes: Uint8Array): void {
    const area = this.#areas.get(bytes.buffer as SharedArrayBuffer);
    if (area !== undefined) area.uses--;
  }

  /** Terminates the thread at once, as a crash would. */
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

  /** Has the thread release memory that no call uses, so that callers that always bring new memory do not leak it. */
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

  /** An error of a listener becomes an uncaught error, as with any event. The next event is handled nevertheless. */
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

import { parentPort, workerData } from 'node:worker_threads';
import { BusThread } from '../src/cluster/nats/bus_thread.ts';
import type { BusThreadData } from '../src/cluster/nats/frames.ts';

/**
 * Thread of the NATS connection and its buffers. It exchanges data with the main thread in shared memory; messages only
 * wake the other side.
 */
const thread = new BusThread(workerData as BusThreadData, () => parentPort?.postMessage(0));
parentPort?.on('message', thread.wake);
thread.wake();

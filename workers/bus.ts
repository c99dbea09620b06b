import { parentPort, workerData } from 'node:worker_threads';
import { BusThread } from '../src/cluster/nats/bus_thread.ts';
import type { BusThreadData } from '../src/cluster/nats/frames.ts';

/** The thread that owns the connection to NATS, and its buffers. Both threads only ever wake each other. */
const thread = new BusThread(workerData as BusThreadData, () => parentPort?.postMessage(0));
parentPort?.on('message', thread.wake);
thread.wake();

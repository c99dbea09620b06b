import { randomInt } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { connectBroker } from '../src/mqtt/broker_connection.ts';
import type { FromMqttThread, MqttThreadData } from '../src/mqtt/messages.ts';
import { MqttThread } from '../src/mqtt/mqtt_thread.ts';
import { every, openClock, schedule } from '../src/time/clock.ts';

const CHANCES = 2 ** 32;

/** Thread of the MQTT client, so that its parsing and buffers cost the main thread nothing. */
const { settings, ...data } = workerData as MqttThreadData;
const { elapsed } = openClock();
const thread = new MqttThread(data, {
  connect: (options, watch) => connectBroker(settings, options, watch),
  post: (message: FromMqttThread) =>
    parentPort?.postMessage(message, 'packed' in message ? [message.packed.buffer] : []),
  schedule,
  every,
  afterReading: setImmediate,
  nowMs: elapsed,
  random: () => randomInt(CHANCES) / CHANCES,
});
parentPort?.on('message', thread.take);
thread.start();

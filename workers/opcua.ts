import { parentPort, workerData } from 'node:worker_threads';
import { LogLevel, setLogLevel } from 'node-opcua-debug';
import type { FromOpcuaThread, OpcuaThreadData } from '../src/opcua/messages.ts';
import { OpcuaThread } from '../src/opcua/opcua_thread.ts';
import { every, openClock } from '../src/time/clock.ts';

/** Thread of the OPC UA server, so that its encryption and its address space cost the main thread nothing. */
setLogLevel(LogLevel.Error);
const thread = new OpcuaThread(workerData as OpcuaThreadData, {
  post: (message: FromOpcuaThread) => parentPort?.postMessage(message),
  every,
  now: openClock().now,
});
parentPort?.on('message', thread.take);
void thread.start();

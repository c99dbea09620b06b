import { parentPort, workerData } from 'node:worker_threads';
import type { FromRecorder, RecorderSettings, ToRecorder } from '../src/history/messages.ts';
import { Recorder } from '../src/history/recorder.ts';
import { endInOrder } from '../src/history/thread_end.ts';
import { every, openClock } from '../src/time/clock.ts';

/** Thread that writes the history. */
const tell = (message: FromRecorder): void => parentPort?.postMessage(message);
const { now, elapsed } = openClock();
const recorder = new Recorder(workerData as RecorderSettings, { now, elapsed, post: tell, every });

endInOrder(parentPort, every);
parentPort?.on('message', (message: ToRecorder) => {
  switch (message.say) {
    case 'places':
      recorder.places(new Uint8Array(message.memory, 0, message.bytes));
      tell({ say: 'taken', block: message.block });
      break;
    case 'events':
      recorder.events(message.topic, message.texts, message.properties);
      tell({ say: 'eventsTaken', bytes: message.bytes });
      break;
    case 'fenceProperties':
      recorder.fenceProperties(message.hash, message.json);
      tell({ say: 'eventsTaken', bytes: message.bytes });
      break;
    case 'files':
      void recorder.files(message.wanted).then(
        (leased) => tell({ say: 'files', id: message.id, leased }),
        (error: unknown) => tell({ say: 'failed', id: message.id, why: String(error) }),
      );
      break;
    case 'erase':
      void recorder.erase(message.erasure).then(
        (erased) => tell({ say: 'erased', id: message.id, erased }),
        (error: unknown) => tell({ say: 'failed', id: message.id, why: String(error) }),
      );
      break;
    case 'release':
      recorder.release(message.lease);
      break;
    case 'damaged':
      recorder.damaged(message.path, message.why);
      break;
    case 'close':
      void recorder.close().then(() => tell({ say: 'closed' }));
      break;
  }
});
recorder.start();

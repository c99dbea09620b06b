import type { ListenerCommands } from '../listen/listener.ts';
import type { GeneratorCommands } from '../load/generator.ts';
import { LOCATIONS_IN } from '../load/mqtt_packets.ts';
import type { Plan } from '../load/plan.ts';
import type { Interval } from '../load/sender.ts';
import { offsetOfDay } from './clock.ts';
import { Mosquitto } from './mosquitto.ts';
import { cpuSeconds } from './proc.ts';
import { Remote } from './remote.ts';

const GENERATOR = new URL('../load/generator.ts', import.meta.url);
const LISTENER = new URL('../listen/listener.ts', import.meta.url);
const PAIR = 'pair';

/** Throughput of a broker alone. */
export interface Moved {
  /** Locations per second that arrived at the subscriber while they were sent. */
  readonly perSecond: number;
  /** CPU time of the broker per location. */
  readonly brokerUs: number;
}

/** Baseline of the MQTT client: the same sources, a mosquitto, and one QoS 1 subscriber that only counts. */
export async function barePair(plan: Plan, interval: Interval): Promise<Moved> {
  const clock = [String(offsetOfDay())];
  const broker = await Mosquitto.start();
  const generator = new Remote<GeneratorCommands>(GENERATOR, clock);
  const listener = new Remote<ListenerCommands>(LISTENER, clock);
  const read = async () => {
    const got = (await listener.ask('received', undefined))[PAIR]?.objects ?? 0;
    return { got, cpu: cpuSeconds(broker.pid), atMs: performance.now() };
  };
  try {
    const { port } = broker;
    const group = { name: PAIR, topic: 'location_updates', params: [{}], filter: `${LOCATIONS_IN}/#` };
    await listener.ask('subscribe', { port, group });
    await generator.ask('open', { plan, port });
    const readings: ReturnType<typeof read>[] = [];
    // The generator reports the start and the end of its measured part.
    generator.onNote = () => void readings.push(read());
    await generator.ask('run', { port, interval });
    const [before, after] = await Promise.all(readings);
    if (before === undefined || after === undefined) throw new Error('The generator has not measured anything');
    const locations = after.got - before.got;
    return {
      perSecond: (1000 * locations) / (after.atMs - before.atMs),
      brokerUs: (1e6 * (after.cpu - before.cpu)) / locations,
    };
  } finally {
    await Promise.all([generator.stop(), listener.stop()]);
    await broker.stop();
  }
}

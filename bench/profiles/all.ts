import { BATCH, SINGLE, WS } from './batch.ts';
import { CLUSTER } from './cluster.ts';
import { COLD } from './cold.ts';
import { DEAD_SINK } from './dead_sink.ts';
import { EVERYDAY } from './everyday.ts';
import { FANOUT } from './fanout.ts';
import { GROWTH } from './growth.ts';
import { HISTORY } from './history.ts';
import { KERNELS } from './kernels.ts';
import { LINKS } from './links.ts';
import { LOCATING } from './locating.ts';
import { MEMORY } from './memory.ts';
import { MQTT } from './mqtt.ts';
import { MQTT_STALL } from './mqtt_stall.ts';
import { OVERLOAD } from './overload.ts';
import { PAST } from './past.ts';
import { PEERS } from './peers.ts';
import type { Profile } from './profile.ts';
import { PROJECTION } from './projection.ts';
import { RESTART } from './restart.ts';
import { COLLISIONS, HEAVY, OPENSKY, STORM } from './scenes.ts';
import { SEARCH } from './search.ts';

/** All profiles, in the order in which they are run and reported. */
export const PROFILES: readonly Profile[] = [
  ...[SINGLE, BATCH, WS, MQTT, OPENSKY, STORM, HEAVY, FANOUT, COLLISIONS],
  ...[HISTORY, PAST, SEARCH, GROWTH, COLD, RESTART, MEMORY, OVERLOAD, MQTT_STALL, DEAD_SINK, LINKS],
  ...[CLUSTER, PROJECTION, PEERS, KERNELS, LOCATING],
  ...EVERYDAY,
];

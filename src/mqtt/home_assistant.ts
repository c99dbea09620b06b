import type { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { FilterFields } from '../model/topics.ts';
import { FenceStays, type FenceStaysDeps } from './fence_stays.ts';
import {
  birthTopic,
  DEVICES_MAX,
  discoveryFilter,
  discoveryTopic,
  fenceDocument,
  HOME_ASSISTANT_KINDS,
  type HomeAssistantKind as Kind,
  type HomeAssistantSettings,
  levelOf,
  type NamedEntity,
  occupancyText,
  readDiscoveryTopic,
  roomText,
  stateTopics,
  trackableDocument,
} from './home_assistant_documents.ts';
import type { ReceivedMessage } from './messages.ts';
import type { Outbound } from './outbound.ts';

export interface HomeAssistantDeps extends Pick<FenceStaysDeps, 'stays' | 'schedule' | 'warn'> {
  readonly fanout: Pick<Fanout, 'listen' | 'subscribe' | 'unsubscribe'>;
  entity(kind: Kind, id: string): NamedEntity | undefined;
  /** All entities of a kind, in order of creation. */
  entities(kind: Kind): readonly NamedEntity[];
  /** Whether this hub publishes the documents and states of an entity. */
  announces(id: string): boolean;
  readonly publish: Outbound['publish'];
}

const WGS84 = { crs: 'EPSG:4326' };
const CHANGES = { trackable: 'trackable_changes', fence: 'fence_changes' } as const;
/** Minimum interval between two states of an entity. */
const INTERVAL_MS = 1000;
/** Delay after a birth message of Home Assistant. Further ones in this time have no effect. */
const BIRTH_DELAY_MS = 1000;
const NOTHING = new Uint8Array();

/**
 * Publishes trackables and fences as devices of Home Assistant, by its MQTT discovery:
 *
 *     discovery document  of each device, retained      once connected, after changes, and after a birth message
 *     position            of a trackable, retained      with each motion, by the hub that owns the trackable's location
 *     room, occupancy     of a device, retained         after each fence event
 *
 * In a cluster, all hubs know all devices, and which trackables are inside of which fence. The hub that announces an
 * entity publishes its document and states. All hubs publish deletions. Retained documents of entities that no longer
 * exist, such as those deleted while the broker was unreachable, are removed when the broker delivers them.
 */
export class HomeAssistant {
  readonly #settings: HomeAssistantSettings;
  readonly #deps: HomeAssistantDeps;
  readonly #stays: FenceStays;
  /** Ids of the published devices, at most DEVICES_MAX of each kind. */
  readonly #devices: Readonly<Record<Kind, Set<string>>> = { trackable: new Set(), fence: new Set() };
  #isConnected = false;
  /** Last motions of devices that moved while the hub was disconnected. Older ones would be outdated when it connects. */
  readonly #unpublished = new Map<string, Uint8Array>();
  /** Kinds of which a warning says that they have more entities than devices. */
  readonly #warned = new Set<Kind>();
  /** Devices that this hub has announced on this connection. */
  #announced = new Set<string>();
  readonly #ends: (() => void)[] = [];
  #cancelBirth: (() => void) | undefined;

  constructor(settings: HomeAssistantSettings, deps: HomeAssistantDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { fanout, schedule, warn } = deps;
    this.#stays = new FenceStays(
      { fanout, schedule, warn, stays: () => deps.stays() },
      {
        read: () => this.#publishStates(),
        crossed: (fenceId, trackableId) => {
          this.#publishState('trackable', trackableId);
          this.#publishState('fence', fenceId);
        },
      },
    );
  }

  /** Topic filters to which the hub subscribes: the birth message, and the retained documents of this hub. */
  get filters(): readonly string[] {
    return [birthTopic(this.#settings), discoveryFilter(this.#settings)];
  }

  start(): void {
    const { fanout } = this.#deps;
    for (const kind of HOME_ASSISTANT_KINDS) {
      this.#fill(kind);
      const receive = (_: unknown, fields: readonly FilterFields[]): void =>
        this.#changed(kind, String(fields[0]?.[0]));
      this.#ends.push(fanout.listen({ receive }, { topic: CHANGES[kind], view: WGS84 }));
    }
    const receive = (batch: DeliveryBatch, fields: readonly FilterFields[]): void => this.#moved(batch, fields);
    this.#ends.push(fanout.listen({ receive }, { topic: 'trackable_motions', view: WGS84 }));
    this.#stays.start();
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#stays.close();
    this.#cancelBirth?.();
  }

  /** Handles a connect or disconnect: publishes all documents and states that this hub announces. */
  connected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#announced = new Set();
    this.elect();
    if (!isConnected) return;
    for (const [id, motion] of this.#unpublished) this.#publishPosition(id, motion);
    this.#unpublished.clear();
  }

  /** Publishes the documents and states of entities that this hub has not announced on this connection. */
  elect(): void {
    if (!this.#isConnected) return;
    const before = this.#announced;
    this.#announced = new Set();
    for (const kind of HOME_ASSISTANT_KINDS) {
      for (const id of this.#devices[kind]) {
        if (!this.#deps.announces(id)) continue;
        this.#announced.add(id);
        if (!before.has(id)) this.#publishDevice(kind, id);
      }
    }
  }

  /** Handles a message of the broker. Returns false if it is neither a birth message nor a document. */
  take({ topic, payload, isRetained }: ReceivedMessage): boolean {
    if (topic === birthTopic(this.#settings)) {
      // The hub publishes after each connect, so a retained birth message has no effect.
      if (!isRetained && Buffer.from(payload).toString() === 'online') this.#born();
      return true;
    }
    const named = readDiscoveryTopic(this.#settings, topic);
    if (named === undefined) return false;
    const isStale = isRetained && payload.length > 0 && this.#deps.entity(named.kind, named.id) === undefined;
    if (isStale && this.#deps.announces(named.id)) this.#remove(named.kind, named.id);
    return true;
  }

  #born(): void {
    this.#cancelBirth ??= this.#deps.schedule(BIRTH_DELAY_MS, () => {
      this.#cancelBirth = undefined;
      this.connected(this.#isConnected);
    });
  }

  /** hot */
  #moved(batch: DeliveryBatch, fields: readonly FilterFields[]): void {
    for (let i = 0; i < batch.count; i++) {
      const id = String(fields[i]?.[0]);
      if (!this.#devices.trackable.has(id)) continue;
      if (this.#isConnected) this.#publishPosition(id, batch.bytesAt(i));
      else this.#unpublished.set(id, Uint8Array.from(batch.bytesAt(i)));
    }
  }

  #publishPosition(id: string, motion: Uint8Array): void {
    const { position } = stateTopics(this.#settings, levelOf(id)).trackable;
    this.#deps.publish(position, motion, { isRetained: true, minIntervalMs: INTERVAL_MS, motionAs: 'tracker' });
  }

  #changed(kind: Kind, id: string): void {
    const devices = this.#devices[kind];
    if (this.#deps.entity(kind, id) === undefined) {
      this.#unpublished.delete(id);
      if (devices.delete(id)) this.#remove(kind, id);
      if (kind === 'trackable') for (const fence of this.#stays.removeTrackable(id)) this.#publishState('fence', fence);
      else for (const trackable of this.#stays.removeFence(id)) this.#publishState('trackable', trackable);
      this.#fill(kind);
      this.elect();
      return;
    }
    if (!devices.has(id) && devices.size >= DEVICES_MAX) {
      this.#warnOfMany(kind);
      return;
    }
    devices.add(id);
    // The room of a trackable has the name of its fence.
    if (kind === 'fence')
      for (const trackable of this.#stays.trackablesIn(id)) this.#publishState('trackable', trackable);
    if (!this.#deps.announces(id)) return;
    this.#announced.add(id);
    this.#publishDevice(kind, id);
  }

  /** Adds devices until the maximum is reached. */
  #fill(kind: Kind): void {
    const devices = this.#devices[kind];
    if (devices.size >= DEVICES_MAX) return;
    const entities = this.#deps.entities(kind);
    if (devices.size === entities.length) return;
    for (const { id } of entities) {
      if (devices.size >= DEVICES_MAX) {
        this.#warnOfMany(kind);
        break;
      }
      devices.add(id);
    }
  }

  #warnOfMany(kind: Kind): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#deps.warn('Home Assistant does not get all entities', {
      kind,
      published: DEVICES_MAX,
      found: this.#deps.entities(kind).length,
    });
  }

  #publishDevice(kind: Kind, id: string): void {
    const entity = this.#deps.entity(kind, id);
    if (!this.#isConnected || entity === undefined) return;
    const document = (kind === 'trackable' ? trackableDocument : fenceDocument)(this.#settings, entity);
    this.#deps.publish(discoveryTopic(this.#settings, kind, levelOf(id)), Buffer.from(document), { isRetained: true });
    this.#publishState(kind, id);
  }

  #publishStates(): void {
    for (const kind of HOME_ASSISTANT_KINDS) for (const id of this.#devices[kind]) this.#publishState(kind, id);
  }

  /** Publishes the room of a trackable, or the occupancy of a fence, if it is known. */
  #publishState(kind: Kind, id: string): void {
    const { announces, publish } = this.#deps;
    if (!this.#isConnected || !this.#stays.isRead || !this.#devices[kind].has(id) || !announces(id)) return;
    const topics = stateTopics(this.#settings, levelOf(id));
    const [topic, text] =
      kind === 'trackable'
        ? [topics.trackable.room, roomText(this.#fencesOf(id))]
        : [topics.fence.occupancy, occupancyText(this.#stays.countIn(id))];
    publish(topic, Buffer.from(text), { isRetained: true, minIntervalMs: INTERVAL_MS });
  }

  #fencesOf(trackableId: string): readonly NamedEntity[] {
    return this.#stays.fencesOf(trackableId).map((id) => this.#deps.entity('fence', id) ?? { id });
  }

  /** Removes the retained messages of a device, the document first. */
  #remove(kind: Kind, id: string): void {
    this.#announced.delete(id);
    const states = Object.values(stateTopics(this.#settings, levelOf(id))[kind]);
    for (const topic of [discoveryTopic(this.#settings, kind, levelOf(id)), ...states]) {
      this.#deps.publish(topic, NOTHING, { isRetained: true });
    }
  }
}

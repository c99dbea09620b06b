import type { AtEnd } from '../durability/hub_process.ts';
import { LocationHub, Picture, type Schemas, type Status, type Topic } from '../../sdk/typescript/src/client.ts';

/** A location as the rounds publish it. */
export type Sent = Schemas['Location'];

/** What a client knows, as the rounds compare it. */
export interface Known {
  /** Positions of the providers, by provider. */
  readonly locations: Readonly<Record<string, readonly number[]>>;
  /** Keys of the memberships, sorted. */
  readonly inside: readonly string[];
  /** Ids of the fence events, in order of arrival. */
  readonly events: readonly string[];
  readonly zones: readonly string[];
}

/** A client of a hub that uses an SDK. */
export interface SdkRun {
  /** Resolves when the hub has accepted all locations. Locations of a provider are in order. */
  publish(locations: readonly Sent[]): Promise<void>;
  known(): Promise<Known>;
  close(): Promise<void>;
}

/** A client with the TypeScript SDK in this process. */
export async function startTypeScript(url: string, atEnd: AtEnd, onStatus?: (status: Status) => void): Promise<SdkRun> {
  const hub = new LocationHub(url, { random: () => 0 });
  // On a busy machine, a hub restarts slowly.
  const publisher = hub.publisher({ batchMax: 500, queueMax: 1_000_000, retryMs: 600_000 });
  const pictures = { location_updates: new Picture('location_updates'), zone_changes: new Picture('zone_changes') };
  const inside = new Picture('fence_events');
  const events: string[] = [];
  const closes: (() => void)[] = [];
  const follow = <T extends Topic>(topic: T, picture: Picture<T>): Promise<void> => {
    const started = Promise.withResolvers<void>();
    const subscription = hub.subscribe(topic, onStatus === undefined ? {} : { onStatus });
    closes.push(() => subscription.close());
    void (async () => {
      for await (const item of subscription) {
        picture.apply(item);
        if (item.kind === 'events' && topic === 'fence_events') {
          for (const event of item.events as Schemas['FenceEvent'][]) events.push(event.id ?? '');
        }
        started.resolve();
      }
    })();
    return started.promise;
  };
  const close = async () => closes.forEach((each) => void each());
  atEnd(() => void close());
  await Promise.all([
    follow('location_updates', pictures.location_updates),
    follow('zone_changes', pictures.zone_changes),
    follow('fence_events', inside),
  ]);
  return {
    async publish(locations) {
      await Promise.all(locations.map((location) => publisher.publish(location)));
    },
    async known() {
      const entries = [...pictures.location_updates.elements];
      return {
        locations: Object.fromEntries(entries.map(([id, { position }]) => [id, position.coordinates])),
        inside: [...inside.elements.keys()].sort(),
        events,
        zones: [...pictures.zone_changes.elements.keys()].sort(),
      };
    },
    close,
  };
}

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openShapeChecks } from '../../../src/fence_index/shape_checks.ts';
import { diceOf } from '../../support/dice.ts';
import { iso } from '../../support/shard_harness.ts';
import { SimulatedClock } from '../simulated_clock.ts';
import { SimulatedHub } from './hub.ts';
import type { ObservedSubscription } from './listener.ts';
import { describeEvent } from './oracle.ts';
import { WitnessedCluster } from './witness.ts';

/** The trackable of these tests. */
export const CART = '10000000-0000-4000-8000-000000000001';

/** A network of hubs that a test starts and ends itself. */
export async function network(context: TestContext) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const network = new WitnessedCluster({ clock, seed: 1 });
  const shapes = await openShapeChecks();
  /** Resolves when the messages of a hub to a stream or subject may be sent, or when it may read a stream. */
  let gate = (_by: string, _to: string): Promise<void> | undefined => undefined;
  const busOf = network.bus.bind(network);
  network.bus = (name) => {
    const bus = busOf(name);
    const [append, request, read] = [bus.append.bind(bus), bus.request.bind(bus), bus.read.bind(bus)];
    bus.append = async (message) => {
      await gate(name, message.stream);
      return append(message);
    };
    bus.request = async (subject, bytes, asking) => {
      await gate(name, subject);
      return request(subject, bytes, asking);
    };
    bus.read = (stream, selection) => {
      const reader = read(stream, selection);
      const next: typeof reader.next = async (take) => {
        await gate(name, `read ${stream}`);
        return reader.next(take);
      };
      return { ...reader, next };
    };
    return bus;
  };
  const open = (incarnation: string, { aheadMs = 0, ownersMax = 1 } = {}): Promise<SimulatedHub> => {
    // One owns everything, unless stated otherwise, so that the takeover is known.
    const place = {
      network,
      dice: diceOf(1),
      shapes,
      hubName: incarnation,
      incarnation,
      shards: 1,
      aheadMs,
      ownersMax,
    };
    return SimulatedHub.open({ ...place, ran: () => undefined, wrong: (what) => assert.fail(what) });
  };
  const observed: ObservedSubscription[] = [];
  const crossings = (): string[] =>
    observed.flatMap(({ texts }) => texts.map((text) => describeEvent('fence_events', text).what));
  const hold = (isHeld: (by: string, to: string) => boolean): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = (by, to) => (isHeld(by, to) ? promise : undefined);
    return resolve;
  };
  return { clock, network, open, observed, crossings, hold };
}

/** A circle of 30 m on the line that `located` follows. */
export function fenceAt(place: number, more: object = {}): object {
  return { region: { type: 'Point', coordinates: [9 + place / 1000, 50] }, radius: 30, ...more };
}

/** A location, now, at a position: consecutive ones are 72 m apart. */
export function located(provider: string, place: number, { nowMs }: SimulatedClock): object {
  return {
    ...{ provider_id: provider, provider_type: 'uwb', source: 'test', crs: 'EPSG:4326' },
    position: { type: 'Point', coordinates: [9 + place / 1000, 50] },
    timestamp_generated: iso(Math.floor(nowMs) / 1000),
  };
}

/** Objects that a hub finds in fence "f". */
export async function inFence(hub: SimulatedHub): Promise<readonly string[]> {
  const answers = await Promise.all([
    hub.ask({ ask: 'fence_providers', id: 'f', spatial: false }),
    hub.ask({ ask: 'fence_trackables', id: 'f', spatial: false }),
  ]);
  return answers.flat().flatMap((answer) => ('ids' in answer ? answer.ids : []));
}

// hot: run for each message that is sent
import { messageOf } from './message.ts';
import { Flippers, type Mover, Walkers } from './movers.ts';
import { type FlipPlan, type Plan, providerId, type WalkPlan } from './plan.ts';
import { setPipeline, writeSet } from './set_commands.ts';
import { findSlots, type Slots, type Stamp, writeLocation } from './slots.ts';

/** Bytes to send, and the number of locations in them. They are valid until the next call for the same connection. */
export interface Message {
  readonly bytes: Buffer;
  readonly locations: number;
}

/**
 * Creates the messages of a plan. A provider belongs to one connection, which sends sequentially, so that its locations
 * arrive in order.
 */
export interface Feed {
  /** Number of messages in which every provider occurs once. */
  readonly messagesPerRound: number;
  /** Returns the connection's next message, generated at the time of the stamp. */
  next(connection: number, stamp: Stamp): Message;
  /** Reports that the connection's last message was not accepted. */
  refused?(connection: number): void;
}

interface Prepared extends Message {
  readonly slots: readonly Slots[];
}

/** A feed of providers that a mover moves. */
export class MovingFeed implements Feed {
  readonly messagesPerRound: number;
  readonly #mover: Mover;
  readonly #messages: readonly (readonly Prepared[])[];
  readonly #turns: Uint32Array;
  /** Writes the position of a provider into its slots. */
  readonly #write: typeof writeLocation;

  constructor(plan: WalkPlan | FlipPlan) {
    const { providers, perMessage, connections, way } = plan;
    this.#write = way === 'resp' ? writeSet : writeLocation;
    const numbers = plan.kind === 'walk' ? plan.numbers : undefined;
    this.#mover = moverOf(plan);
    this.messagesPerRound = Math.ceil(providers / perMessage);
    const messages: Prepared[][] = Array.from({ length: connections }, () => []);
    for (let first = 0; first < providers; first += perMessage) {
      const count = Math.min(perMessage, providers - first);
      const whose = Array.from({ length: count }, (_, i) => first + i);
      messages[(first / perMessage) % connections]?.push(prepared(way, whose, numbers));
    }
    this.#messages = messages;
    this.#turns = new Uint32Array(connections);
  }

  next(connection: number, stamp: Stamp): Message {
    const own = this.#messages[connection]!;
    const turn = this.#turns[connection]!;
    this.#turns[connection] = turn + 1 === own.length ? 0 : turn + 1;
    const message = own[turn]!;
    const { bytes } = message;
    const mover = this.#mover;
    const { lon, lat } = mover;
    const write = this.#write;
    for (const slots of message.slots) {
      const { provider } = slots;
      mover.move(provider);
      write(bytes, slots, lon[provider]!, lat[provider]!, stamp);
    }
    return message;
  }

  refused(connection: number): void {
    const mover = this.#mover;
    if (mover.moveBack === undefined) return;
    const own = this.#messages[connection]!;
    const last = (this.#turns[connection]! + own.length - 1) % own.length;
    for (const { provider } of own[last]!.slots) mover.moveBack(provider);
  }
}

/** A message with a location of each of these providers. */
function prepared(way: Plan['way'], whose: readonly number[], numbers?: readonly number[]): Prepared {
  const ids = whose.map((index) => providerId(numbers?.[index] ?? index));
  if (way === 'resp') return { ...setPipeline(whose, ids), locations: whose.length };
  const bytes = messageOf(way, ids);
  return { bytes, locations: whose.length, slots: findSlots(bytes, whose) };
}

function moverOf(plan: WalkPlan | FlipPlan): Mover {
  if (plan.kind === 'flip') return new Flippers(plan.providers, plan);
  return new Walkers(plan.providers, { ...plan, seed: plan.seed ?? 1 });
}

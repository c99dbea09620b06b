import Type, { type Static } from 'typebox';

/** Topic of the hints, to which clients do not subscribe, and the query parameter with which they ask for them. */
export const OWNER_HINTS = 'owner_hints';

/** Number of messages between two hints. */
const WINDOW = 16;
/** Share of the messages of a window that count as most. */
const MOST = 0.75;

export const OwnerHint = Type.Object(
  {
    hub: Type.String({ description: 'Name of the hub.' }),
    url: Type.Optional(Type.String({ description: 'URL of the hub, if its cluster_client_url is set.' })),
  },
  {
    title: 'OwnerHint',
    description: 'Hub that owns the providers of most locations that the client has sent over this connection.',
  },
);
export type OwnerHint = Static<typeof OwnerHint>;

/** Whether a client asks for hints with its upgrade request. */
export function asksForHints(query: string): boolean {
  return query !== '' && new URLSearchParams(query).get(OWNER_HINTS) === 'true';
}

/** Message that names the owner of most locations. It has the form of a message of the omlox Hub API. */
export function ownerMessage(hint: OwnerHint): string {
  return JSON.stringify({ event: 'message', topic: OWNER_HINTS, payload: [hint] });
}

/** Owners of the locations of one connection: decides when the client is notified. */
export class ConnectionOwners {
  #messages = 0;
  readonly #byHub = new Map<string, number>();
  #last = '';

  /**
   * Counts a message of locations, most of which `hint` owns; undefined if no other hub does. Returns the hint to send,
   * at most once per window and only if it differs from the last one.
   */
  sent(hint: OwnerHint | undefined): OwnerHint | undefined {
    this.#messages++;
    if (hint !== undefined) this.#byHub.set(hint.hub, (this.#byHub.get(hint.hub) ?? 0) + 1);
    if (this.#messages < WINDOW) return undefined;
    const isMost = hint !== undefined && (this.#byHub.get(hint.hub) ?? 0) >= WINDOW * MOST;
    this.#messages = 0;
    this.#byHub.clear();
    if (!isMost || hint.hub === this.#last) return undefined;
    this.#last = hint.hub;
    return hint;
  }
}

import type { Query } from '../core/item.ts';
import type { HttpReply } from '../exchange.ts';
import type { View } from '../model/topics.ts';
import { textList } from './responses.ts';
import type { ApiDeps } from './deps.ts';
import { inTurn } from './in_turn.ts';
import { cutOf } from './naming.ts';
import { limitedTo, onlyOwned } from './ownership.ts';
import { leadingOn, pageOf } from './page.ts';
import type { ApiCall } from './route.ts';

/** Kind of objects of the query. */
type Wanted = { readonly view: View } & (
  | { readonly kind: 'provider'; readonly ask: 'provider_locations' }
  | { readonly kind: 'trackable'; readonly ask: 'trackable_motions' }
);

/**
 * The last locations of all objects of a kind, or of one page of objects. A page is shorter if some of its objects have
 * no location yet.
 */
export async function lastLocationsOfAll({ kind, ask, view }: Wanted, call: ApiCall, hub: ApiDeps): Promise<HttpReply> {
  const { query, owned, reply } = call;
  const isWhole = Object.keys(query as object).every((name) => name !== 'limit' && name !== 'cursor');
  const places = async (limits: { readonly only?: readonly string[] }, order: 'by_id' | 'any') => {
    const asked: Query = { ask, view, ...limits };
    const answers = await hub.read(asked);
    return inTurn(hub.entities.count(kind), hub, () =>
      reply.json(textList(answers, view, { order, cut: cutOf(asked, call) })),
    );
  };
  if (isWhole) return await places(limitedTo(kind, owned, hub), 'any');
  const page = pageOf(onlyOwned<{ readonly id: string }>(hub.entities.list(kind), `${kind}_id`, owned), call);
  return leadingOn(await places({ only: page.items.map(({ id }) => id) }, 'by_id'), page);
}

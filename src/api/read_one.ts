import type { HttpReply } from '../exchange.ts';
import type { ObjectKind } from '../model/id.ts';
import { oneText } from './responses.ts';
import type { ApiDeps } from './deps.ts';
import { requireEntity } from './lookup.ts';
import { answersTo } from './naming.ts';
import type { ApiCall } from './route.ts';
import { type ViewQuery, viewOf } from './view.ts';

type AskOne = 'provider_location' | 'trackable_location' | 'trackable_motion';

/** Replies with the location or motion of the path's object, in the view of the query. */
export async function oneOf(kind: ObjectKind, ask: AskOne, call: ApiCall<ViewQuery>, hub: ApiDeps): Promise<HttpReply> {
  const { id } = requireEntity(kind, call.id, hub);
  const view = viewOf(call, hub);
  return call.reply.json(oneText(await answersTo({ ask, id, view }, call, hub), { kind: ask, id }, view));
}

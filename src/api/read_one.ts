import type { HttpReply } from '../exchange.ts';
import type { ObjectKind } from '../model/id.ts';
import { show } from '../model/error_value_text.ts';
import { oneText } from './answers.ts';
import type { ApiDeps } from './deps.ts';
import { found } from './found.ts';
import { answersTo } from './naming.ts';
import type { Call } from './route.ts';
import { type ViewQuery, viewOf } from './view.ts';

type AskOne = 'provider_location' | 'trackable_location' | 'trackable_motion';

/** Replies with the location or motion of the path's object, in the view of the query. */
export async function oneOf(kind: ObjectKind, ask: AskOne, call: Call<ViewQuery>, hub: ApiDeps): Promise<HttpReply> {
  const { id } = found(kind, call.id, hub);
  const view = viewOf(call, hub);
  const what = `${ask.endsWith('motion') ? 'motion' : 'location'} of ${kind} ${show(id)}`;
  return call.reply.json(oneText(await answersTo({ ask, id, view }, call, hub), what, view));
}

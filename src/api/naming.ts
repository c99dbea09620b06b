import { checkNewNames, cutTo, type Naming } from '../auth/names.ts';
import type { Answer, Query } from '../core/item.ts';
import type { Resource } from '../model/permission.ts';
import type { ApiDeps, Call } from './route.ts';

/** Throws HUB_NOT_AUTHORIZED where what is sent newly names what the token of the call must not read. */
export function admitNames(
  naming: Naming,
  { before, after }: { readonly before: object | undefined; readonly after: object },
  { readable }: Pick<Call, 'readable'>,
  { entities }: ApiDeps,
): void {
  if (readable === undefined) return;
  const exists = (resource: Resource, id: string): boolean => {
    const kind = KINDS[resource];
    return kind !== undefined && entities.has(kind, id);
  };
  checkNewNames(naming, { before, after }, { readable, exists });
}

const KINDS: Readonly<Partial<Record<Resource, 'trackable' | 'zone' | 'provider'>>> = {
  trackable_id: 'trackable',
  zone_id: 'zone',
  provider_id: 'provider',
};

/** Asks the shards for a call. What its token must not read is not named in the answers. */
export async function answersTo(
  query: Query,
  { readable }: Pick<Call, 'readable'>,
  hub: ApiDeps,
): Promise<readonly Answer[]> {
  const answers = await hub.read(query);
  if (!('view' in query)) return answers;
  const naming = query.ask.includes('motion') ? 'motion' : 'location';
  const cut = cutTo(readable, naming, query.view.geojson === true ? 'feature' : 'plain');
  if (cut === undefined) return answers;
  return answers.map((answer) => ('texts' in answer ? { ...answer, texts: answer.texts.map(cut) } : answer));
}

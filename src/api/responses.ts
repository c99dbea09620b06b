import type { QueryResult } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { ReplyBody } from '../exchange.ts';
import { show } from '../model/error_value_text.ts';
import type { View } from '../model/topics.ts';
import { shownCollection, shownList } from './list_body.ts';

/**
 * The single JSON string among the answers. Throws HUB_NOT_FOUND without one, HUB_BAD_REQUEST if it cannot be
 * expressed in the view.
 */
export function oneText(answers: readonly QueryResult[], what: string, view: View): string {
  for (const answer of answers) {
    const text = 'texts' in answer ? answer.texts[0] : undefined;
    if (text !== undefined) return text;
  }
  for (const answer of answers) {
    if (!('unplaced' in answer)) continue;
    const why = answer.outOfRange ?? `found source ${show(answer.unplaced)}`;
    throw new HubError('HUB_BAD_REQUEST', `crs: ${what} cannot be shown in ${view.crs}: ${why}`);
  }
  throw new HubError('HUB_NOT_FOUND', `Cannot get ${what}: there is none`);
}

/**
 * All JSON strings of the answers as one list, a FeatureCollection in a GeoJSON view. `cut` redacts each part of a long
 * list when it is sent.
 */
export function textList(
  answers: readonly QueryResult[],
  view: View,
  { order = 'any', cut = (text) => text }: Listing = {},
): ReplyBody {
  const texts = order === 'any' ? textsOf(answers) : textsById(answers);
  const body = view.geojson === true ? shownCollection(texts, cut) : shownList(texts, cut);
  return typeof body === 'string' ? body : { ...body, ownBytes: texts.reduce((sum, { length }) => sum + length, 0) };
}

interface Listing {
  readonly order?: 'by_id' | 'any';
  readonly cut?: ((text: string) => string) | undefined;
}

function textsOf(answers: readonly QueryResult[]): string[] {
  return answers.flatMap((answer) => ('texts' in answer ? answer.texts : []));
}

function textsById(answers: readonly QueryResult[]): string[] {
  const texts = answers.flatMap((answer) => {
    if (!('texts' in answer)) return [];
    return answer.texts.map((text, i) => [answer.of?.[i] ?? '', text] as const);
  });
  return texts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, text]) => text);
}

/** All ids of the answers, sorted. */
export function idList(answers: readonly QueryResult[]): string[] {
  return answers.flatMap((answer) => ('ids' in answer ? answer.ids : [])).sort();
}

import { hubError } from '../errors.ts';
import type { QueryResult } from '../core/item.ts';
import type { ReplyBody } from '../exchange.ts';
import type { View } from '../model/topics.ts';
import { shownCollection, shownList } from './list_body.ts';

/**
 * The single JSON string among the answers. Throws HUB_NOT_FOUND without one, HUB_BAD_REQUEST if it cannot be
 * expressed in the view.
 */
export function oneText(
  answers: readonly QueryResult[],
  what: { readonly kind: 'provider_location' | 'trackable_location' | 'trackable_motion'; readonly id: string },
  view: View,
): string {
  for (const answer of answers) {
    const text = 'texts' in answer ? answer.texts[0] : undefined;
    if (text !== undefined) return text;
  }
  for (const answer of answers) {
    if (!('unplaced' in answer)) continue;
    const where = { path: 'crs', ...what, crs: view.crs } as const;
    if (answer.outOfRange !== undefined) throw hubError('out_of_crs_range', { ...where, ...answer.outOfRange });
    throw hubError('source_not_in_crs', { ...where, source: answer.unplaced });
  }
  throw hubError('no_value', what);
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

import type { Answer } from '../core/item.ts';
import { featureCollection } from '../core/location/text.ts';
import { HubError } from '../errors.ts';
import { show } from '../model/show.ts';
import type { View } from '../model/topics.ts';

/** The one text among the answers. Throws HUB_NOT_FOUND when there is none, HUB_BAD_REQUEST when it cannot be shown. */
export function oneText(answers: readonly Answer[], what: string, view: View): string {
  for (const answer of answers) {
    const text = 'texts' in answer ? answer.texts[0] : undefined;
    if (text !== undefined) return text;
  }
  for (const answer of answers) {
    if (!('unplaced' in answer)) continue;
    const found = `source ${show(answer.unplaced)}`;
    throw new HubError('HUB_BAD_REQUEST', `crs: ${what} cannot be shown in ${view.crs}: found ${found}`);
  }
  throw new HubError('HUB_NOT_FOUND', `Cannot get ${what}: there is none`);
}

/** All texts of the answers as one list, which is a FeatureCollection in a GeoJSON view. */
export function textList(answers: readonly Answer[], view: View): string {
  const texts = answers.flatMap((answer) => ('texts' in answer ? answer.texts : []));
  return view.geojson === true ? featureCollection(texts) : `[${texts.join(',')}]`;
}

/** All ids of the answers, sorted. */
export function idList(answers: readonly Answer[]): string[] {
  return answers.flatMap((answer) => ('ids' in answer ? answer.ids : [])).sort();
}

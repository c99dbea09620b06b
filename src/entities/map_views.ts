import { checker } from '../model/check.ts';
import { show } from '../model/error_value_text.ts';
import { MapView } from '../model/view.ts';
import { badRequest, onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(MapView);

/** Views of the map, as the hub keeps them. */
export const MAP_VIEWS: DocumentKind<MapView> = {
  prefix: 'map_view ',
  noun: 'view',
  max: 200,
  check(body) {
    const view = onlyMembers(MapView, schema.parse(body));
    // An address of another site would lead people there.
    if (!view.address.startsWith('?')) throw badRequest(`address: must begin with ?, found ${show(view.address)}`);
    return view;
  },
  /** The start is that which was chosen last. */
  besides({ is_start: isStart }, others) {
    if (isStart !== true) return [];
    return others.filter((other) => other.is_start === true).map((other) => ({ ...other, is_start: false }));
  },
};

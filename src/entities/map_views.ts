import { hubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { show } from '../model/error_value_text.ts';
import { MapView } from '../model/view.ts';
import { onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(MapView);

/** Map views as stored documents. */
export const MAP_VIEWS: DocumentKind<MapView> = {
  prefix: 'map_view ',
  kind: 'view',
  max: 200,
  check(body) {
    const view = onlyMembers(MapView, schema.parse(body));
    // An absolute URL could lead users to another site.
    if (!view.address.startsWith('?')) throw hubError('not_a_query', { path: 'address', found: show(view.address) });
    return view;
  },
  /** At most one view is the start: the last one set. */
  besides({ is_start: isStart }, others) {
    if (isStart !== true) return [];
    return others.filter((other) => other.is_start === true).map((other) => ({ ...other, is_start: false }));
  },
};

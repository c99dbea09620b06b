import { Anchor } from '../../model/anchor.ts';
import type { Route } from '../route.ts';
import { entityRows } from './entity_rows.ts';

export const ANCHOR_ROUTES: readonly Route[] = entityRows({
  kind: 'anchor',
  path: '/anchors',
  resource: 'anchor_id',
  schema: Anchor,
});

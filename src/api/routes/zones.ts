import Type from 'typebox';
import { feature } from '../../core/location/text.ts';
import { transformPoint } from '../../core/zone/simple_transform.ts';
import { checker } from '../../model/check.ts';
import { SimpleTransform, Zone } from '../../model/zone.ts';
import { found } from '../found.ts';
import { type Route, route } from '../route.ts';
import { entityRows } from './entity_rows.ts';

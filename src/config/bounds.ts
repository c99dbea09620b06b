import Type from 'typebox';
import type { Bounds } from '../model/bounds.ts';
import type { Config } from './schema.ts';

function Bound(description: string, of: { readonly default: number; readonly maximum: number }) {
  return Type.Integer({ minimum: 1, ...of, description });
}

/** The settings that bound what clients can make the hub keep, and how long their geometries are looked at. */
export const BoundProperties = {
  max_name_length: Bound('Characters of an id, a source or a name. A longer one is refused.', {
    default: 1024,
    maximum: 16_384,
  }),
  max_location_properties_size: Bound('Properties of a location as JSON, in KiB. Larger ones are refused.', {
    default: 64,
    maximum: 16_384,
  }),
  max_entity_properties_size: Bound(
    'Properties of an entity, or a list of it, as JSON, in KiB. Larger ones are refused.',
    {
      default: 1024,
      maximum: 65_536,
    },
  ),
  max_geometry_positions: Bound('Positions of a geometry. One with more is refused.', {
    default: 100_000,
    maximum: 1_000_000,
  }),
  max_geometry_rings: Bound('Rings of a polygon. One with more is refused.', { default: 10_000, maximum: 100_000 }),
  max_geometry_check_time: Bound('Time in which a large polygon must be found valid, in milliseconds.', {
    default: 2000,
    maximum: 600_000,
  }),
  max_parent_depth: Bound('Levels of parents. A deeper chain is refused, one of old data acts so deep.', {
    default: 32,
    maximum: 1000,
  }),
};

/** The settings of what subscriptions cost. */
export const RenderingProperties = {
  websocket_max_renderings: Bound(
    'Different renderings (topic, GeoJSON, crs and zone) that one WebSocket connection may subscribe to.',
    { default: 16, maximum: 10_000 },
  ),
  max_renderings: Bound('Different renderings that all connections together may subscribe to.', {
    default: 256,
    maximum: 10_000,
  }),
  websocket_max_params_size: Bound('Parameters of the subscriptions of one WebSocket connection, together, in KiB.', {
    default: 1024,
    maximum: 65_536,
  }),
};

/** The bounds that the settings give. */
export function boundsOf(config: Config): Bounds {
  return {
    nameLength: config.max_name_length,
    locationPropertiesBytes: config.max_location_properties_size << 10,
    entityPropertiesBytes: config.max_entity_properties_size << 10,
    positions: config.max_geometry_positions,
    rings: config.max_geometry_rings,
    parents: config.max_parent_depth,
  };
}

/** How many different renderings there may be. */
export function renderingBoundsOf(config: Config) {
  return { ofSubscriber: config.websocket_max_renderings, inAll: config.max_renderings };
}

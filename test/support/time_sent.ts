import type { Event } from './socket_client.ts';

/** What the hub has published, as REST shows the same: without the time at which it was sent. */
export function asShown(event: Event): Event {
  if (event.type === 'FeatureCollection') return { ...event, features: event.features.map(shownFeature) };
  const { timestamp_sent: _, ...rest } = event;
  return rest.location === undefined ? rest : { ...rest, location: asShown(rest.location) };
}

function shownFeature(feature: Event): Event {
  return { ...feature, properties: asShown(feature.properties) };
}

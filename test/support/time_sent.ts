import type { Event } from './socket_client.ts';

/** Returns a published event as REST returns it: without the time of sending. */
export function publicForm(event: Event): Event {
  if (event.type === 'FeatureCollection') return { ...event, features: event.features.map(shownFeature) };
  const { timestamp_sent: _, ...rest } = event;
  return rest.location === undefined ? rest : { ...rest, location: publicForm(rest.location) };
}

function shownFeature(feature: Event): Event {
  return { ...feature, properties: publicForm(feature.properties) };
}

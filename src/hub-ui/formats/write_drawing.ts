import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import type { Position } from './drawing.ts';

/** Zones and fences as they are on the earth. */
export interface Site {
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
}

interface Feature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry:
    | { readonly type: 'Point'; readonly coordinates: Position }
    | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] };
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Zones and fences as GeoJSON: a feature a line, whose `kind` says what it is. Whoever reads it again has the same ids. */
export function geoJsonText(site: Site): string {
  const lines = featuresOf(site).map((feature) => JSON.stringify(feature));
  return `{"type":"FeatureCollection","features":[\n${lines.join(',\n')}\n]}\n`;
}

/** The same as KML, with a folder for each kind. */
export function kmlText(site: Site): string {
  const features = featuresOf(site);
  const folders = ['zones', 'fences'].map((kind) => {
    const placemarks = features.filter(({ properties }) => properties['kind'] === kind).map(placemarkOf);
    return `<Folder><name>${kind}</name>\n${placemarks.join('\n')}\n</Folder>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
${folders.join('\n')}
</Document></kml>
`;
}

function featuresOf({ zones, fences }: Site): Feature[] {
  return [...zones.flatMap((zone) => zoneFeature(zone) ?? []), ...fences.map(fenceFeature)];
}

function fenceFeature({ id, region, name, floor, radius, properties }: Fence): Feature {
  const named = { ...properties, kind: 'fences', ...set({ name, floor, radius }) };
  return { type: 'Feature', id, geometry: region as Feature['geometry'], properties: named };
}

/** Undefined for a zone of which nobody knows where it is. */
function zoneFeature({
  id,
  type,
  name,
  floor,
  radius,
  position,
  ground_control_points: rows,
}: Zone): Feature | undefined {
  const properties = { kind: 'zones', type, ...set({ name, floor, radius }) };
  const corners = (rows ?? []).filter((_, index) => index % 2 === 0);
  const [first] = corners;
  if (first !== undefined && corners.length >= 3) {
    return { type: 'Feature', id, geometry: { type: 'Polygon', coordinates: [[...corners, first]] }, properties };
  }
  if (position == null) return undefined;
  return { type: 'Feature', id, geometry: { type: 'Point', coordinates: position.coordinates }, properties };
}

function set(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}

function placemarkOf({ id, geometry, properties: { name, ...properties } }: Feature): string {
  const data = Object.entries({ id, ...properties }).map(([key, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `<Data name="${escaped(key)}"><value>${escaped(text)}</value></Data>`;
  });
  const shape =
    geometry.type === 'Point'
      ? `<Point><coordinates>${geometry.coordinates.join(',')}</coordinates></Point>`
      : `<Polygon>${geometry.coordinates.map(boundaryOf).join('')}</Polygon>`;
  return `<Placemark><name>${escaped(String(name ?? id))}</name><ExtendedData>${data.join('')}</ExtendedData>${shape}</Placemark>`;
}

function boundaryOf(ring: readonly Position[], index: number): string {
  const side = index === 0 ? 'outerBoundaryIs' : 'innerBoundaryIs';
  const text = ring.map((position) => position.join(',')).join(' ');
  return `<${side}><LinearRing><coordinates>${text}</coordinates></LinearRing></${side}>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

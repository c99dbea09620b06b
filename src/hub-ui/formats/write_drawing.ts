import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import type { FilePosition, FileShape } from './drawing.ts';
import { type DrawnKind, EntityProperties, type IsFlat } from './entity_properties.ts';
import { outlineOf } from './moved_zone.ts';
import { escapedXml, isXmlText } from './xml.ts';

/** Zones and fences in geographic coordinates. */
export interface DrawnSite {
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
}

interface Feature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: FileShape['geometry'];
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Serializes zones and fences as GeoJSON, one feature per line; properties as in `entity_properties.ts`. */
export function geoJsonText({ zones, fences }: DrawnSite): string {
  const isFlat: IsFlat = (_key, value) => ['string', 'number', 'boolean'].includes(typeof value);
  const features = [...zoneFeatures(zones, isFlat), ...fenceFeatures(fences, isFlat)];
  const lines = features.map((feature) => JSON.stringify(feature));
  return `{"type":"FeatureCollection","features":[\n${lines.join(',\n')}\n]}\n`;
}

/** Serializes zones and fences as KML, with a folder per kind. All data are strings. */
export function kmlText({ zones, fences }: DrawnSite): string {
  const isFlat: IsFlat = (key, value) => typeof value === 'string' && isXmlText(key + value);
  const folders = [folderOf('zones', zoneFeatures(zones, isFlat)), folderOf('fences', fenceFeatures(fences, isFlat))];
  return `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
${folders.join('\n')}
</Document></kml>
`;
}

function fenceFeatures(fences: readonly Fence[], isFlat: IsFlat): Feature[] {
  const properties = new EntityProperties('fences', fences, isFlat);
  return fences.map((fence) => {
    return { type: 'Feature', id: fence.id, geometry: fence.region, properties: properties.of(fence) };
  });
}

/** Converts zones to the hulls of their control points, or to points at their positions. Skips zones with neither. */
function zoneFeatures(zones: readonly Zone[], isFlat: IsFlat): Feature[] {
  const properties = new EntityProperties('zones', zones, isFlat);
  return zones.flatMap((zone): Feature[] => {
    const { id, position, ...rest } = zone;
    const outline = outlineOf(zone.ground_control_points ?? []);
    const [first] = outline;
    if (first !== undefined && outline.length >= 3) {
      const geometry = { type: 'Polygon', coordinates: [[...outline, first]] } as const;
      return [{ type: 'Feature', id, geometry, properties: properties.of(zone) }];
    }
    return position == null ? [] : [{ type: 'Feature', id, geometry: position, properties: properties.of(rest) }];
  });
}

function folderOf(kind: DrawnKind, features: readonly Feature[]): string {
  return `<Folder><name>${kind}</name>\n${features.map(placemarkOf).join('\n')}\n</Folder>`;
}

function placemarkOf({ id, geometry, properties: { name, ...properties } }: Feature): string {
  const data = Object.entries({ id, ...properties }).flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : jsonForXml(value);
    return isXmlText(key + text) ? [`<Data name="${escapedXml(key)}"><value>${escapedXml(text)}</value></Data>`] : [];
  });
  const shape =
    geometry.type === 'Point'
      ? `<Point><coordinates>${geometry.coordinates.join(',')}</coordinates></Point>`
      : geometry.type === 'LineString'
        ? `<LineString><coordinates>${geometry.coordinates.map((at) => at.join(',')).join(' ')}</coordinates></LineString>`
        : `<Polygon>${geometry.coordinates.map(boundaryOf).join('')}</Polygon>`;
  return `<Placemark>${nameElement(name)}<ExtendedData>${data.join('')}</ExtendedData>${shape}</Placemark>`;
}

/** Serializes JSON for XML. JSON already escapes all characters that XML cannot contain, except two. */
function jsonForXml(value: unknown): string {
  return JSON.stringify(value).replaceAll('\uFFFE', '\\ufffe').replaceAll('\uFFFF', '\\uffff');
}

function nameElement(name: unknown): string {
  if (typeof name !== 'string' || !isXmlText(name)) return '';
  const space = name === name.trim() ? '' : ' xml:space="preserve"';
  return `<name${space}>${escapedXml(name)}</name>`;
}

function boundaryOf(ring: readonly FilePosition[], index: number): string {
  const side = index === 0 ? 'outerBoundaryIs' : 'innerBoundaryIs';
  const text = ring.map((position) => position.join(',')).join(' ');
  return `<${side}><LinearRing><coordinates>${text}</coordinates></LinearRing></${side}>`;
}

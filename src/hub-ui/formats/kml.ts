import { t } from '../languages/language.ts';
import { type Drawing, Layers } from './drawing.ts';
import { readFeatures } from './geojson.ts';

type Feature = Readonly<Record<string, unknown>>;

/** What a file of KML draws: a layer for each folder. Throws an Error for what is none. */
export function readKml(text: string): Drawing {
  const root = new DOMParser().parseFromString(text, 'application/xml');
  if (root.querySelector('parsererror') !== null) throw new Error(t('The file is not XML'));
  const placemarks = [...root.getElementsByTagNameNS('*', 'Placemark')];
  if (root.documentElement.localName !== 'kml' && placemarks.length === 0)
    throw new Error(t('The file is XML, but not KML'));
  const layers = new Layers();
  readFeatures({ type: 'FeatureCollection', features: placemarks.map(featureOf) }, layers, {
    layerOf: (feature) => String(feature['layer']),
    floorOf: ({ floor, level }) => numberOf(floor ?? level),
  });
  for (const overlay of root.getElementsByTagNameNS('*', 'GroundOverlay')) {
    layers.refuse(
      childText(overlay, 'name') ?? 'Overlay',
      t('An image on the ground is loaded in the form of its zone.'),
    );
  }
  return layers.drawing('earth');
}

function featureOf(placemark: Element): Feature {
  const properties: Record<string, unknown> = {};
  for (const each of placemark.getElementsByTagNameNS('*', 'Data')) {
    properties[each.getAttribute('name') ?? ''] = readValue(childText(each, 'value') ?? '');
  }
  for (const each of placemark.getElementsByTagNameNS('*', 'SimpleData')) {
    properties[each.getAttribute('name') ?? ''] = readValue(each.textContent ?? '');
  }
  const description = childText(placemark, 'description');
  const name = childText(placemark, 'name');
  return {
    type: 'Feature',
    id: properties['id'] ?? placemark.getAttribute('id') ?? undefined,
    layer: folderOf(placemark),
    properties: { ...properties, ...(name && { name }), ...(description && { description }) },
    geometry: geometryOf(placemark),
  };
}

function geometryOf(parent: Element): Feature | undefined {
  for (const child of parent.children) {
    switch (child.localName) {
      case 'Point':
        return { type: 'Point', coordinates: positionsOf(child)[0] };
      case 'LineString':
      case 'LinearRing':
        return { type: 'LineString', coordinates: positionsOf(child) };
      case 'Polygon': {
        const rings = [...child.getElementsByTagNameNS('*', 'LinearRing')];
        return { type: 'Polygon', coordinates: rings.map(positionsOf) };
      }
      case 'MultiGeometry': {
        const parts = [...child.children].flatMap((part) => {
          const alone = parent.ownerDocument.createElement('part');
          alone.append(part.cloneNode(true));
          return geometryOf(alone) ?? [];
        });
        return { type: 'GeometryCollection', geometries: parts };
      }
    }
  }
  return undefined;
}

/** The positions of an element: `longitude,latitude,height`, with spaces between them. */
function positionsOf(element: Element): number[][] {
  const text = element.getElementsByTagNameNS('*', 'coordinates')[0]?.textContent ?? '';
  const positions = text.split(/\s+/).filter((each) => each !== '');
  return positions.map((each) => each.split(',').slice(0, 2).map(Number));
}

/** The folder that a placemark is in, or else the document. */
function folderOf(placemark: Element): string {
  for (let parent = placemark.parentElement; parent !== null; parent = parent.parentElement) {
    const name = parent.localName === 'Folder' ? childText(parent, 'name') : undefined;
    if (name !== undefined) return name;
  }
  return t('Placemarks');
}

function childText(parent: Element, name: string): string | undefined {
  const text = [...parent.children].find(({ localName }) => localName === name)?.textContent?.trim();
  return text === '' ? undefined : text;
}

function readValue(text: string): unknown {
  return numberOf(text) ?? text;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

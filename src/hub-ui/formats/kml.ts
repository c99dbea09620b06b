import { kmlWithFolders } from '@tmcw/togeojson';
import { t } from '../languages/language.ts';
import { type Drawing, Layers } from './drawing.ts';
import { readFeatures } from './geojson.ts';

type Properties = Readonly<Record<string, unknown>>;

/** What the library makes of a file; the types of its geometries are not installed. */
type Found = Folder | Feature;

interface Folder {
  readonly type: 'folder';
  readonly meta: Properties;
  readonly children: readonly Found[];
}

interface Feature {
  readonly type: 'Feature';
  readonly id?: unknown;
  readonly geometry: unknown;
  readonly properties: Properties;
}

/** What only says how things look, or of which type a text is: it would become properties of fences, or change them. */
const LOOKS = ['Style', 'StyleMap', 'styleUrl', 'visibility', 'open', 'Schema'];

/** What a file of KML draws: a layer for each folder. Throws an Error for what is none. */
export function readKml(text: string): Drawing {
  const root = new DOMParser().parseFromString(withoutPrefix(text), 'application/xml');
  if (root.querySelector('parsererror') !== null) throw new Error(t('The file is not XML'));
  if (root.documentElement.localName !== 'kml' && root.getElementsByTagName('Placemark').length === 0)
    throw new Error(t('The file is XML, but not KML'));
  for (const name of LOOKS) for (const element of [...root.getElementsByTagName(name)]) element.remove();
  const features = featuresIn(kmlWithFolders(root).children as readonly Found[], t('Placemarks'));
  const layers = new Layers();
  readFeatures({ type: 'FeatureCollection', features: features.filter((each) => !isOther(each)) }, layers, {
    layerOf: (feature) => String(feature['layer']),
    floorOf: ({ floor, level }) => numberOf(floor ?? level),
  });
  for (const { properties } of features.filter(isOther)) {
    if (properties[KIND] === 'groundoverlay')
      layers.refuse(
        String(properties['name'] ?? 'Overlay'),
        t('An image on the ground is loaded in the form of its zone.'),
      );
    else layers.refuse(String(properties['name'] ?? 'NetworkLink'), t('What is in another file is not read.'));
  }
  return layers.drawing('earth');
}

/** Of what kind something is that is no placemark. */
const KIND = '@geometry-type';

function isOther({ properties }: Feature): boolean {
  return KIND in properties;
}

interface Layered extends Feature {
  readonly layer: string;
}

/** KML whose elements have a prefix, as some programs write it, without: the library looks for their plain names. */
function withoutPrefix(text: string): string {
  const prefix = /\sxmlns:([\w.-]+)\s*=\s*["']https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml\//.exec(
    text,
  )?.[1];
  return prefix === undefined ? text : text.replaceAll(`<${prefix}:`, '<').replaceAll(`</${prefix}:`, '</');
}

/** The features of folders, in their order; each with the name of the nearest folder that has one as its layer. */
function featuresIn(children: readonly Found[], layer: string): Layered[] {
  return children.flatMap((child) => {
    if (child.type === 'Feature') return featureOf(child, layer);
    const { name } = child.meta;
    const own = typeof name === 'string' ? name.trim() : '';
    return featuresIn(child.children, own === '' ? layer : own);
  });
}

function featureOf({ id, geometry, properties }: Feature, layer: string): Layered {
  const read = Object.entries(properties).map(([key, value]) => [key, readValue(key, value)] as const);
  const own = Object.fromEntries(read.filter(([, value]) => value !== ''));
  return { type: 'Feature', id: own['id'] ?? id, layer, geometry, properties: own };
}

/** A description may be HTML, which then is an object that says so. */
function readValue(key: string, value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'value' in value) return String(value.value).trim();
  if (typeof value !== 'string') return value;
  const text = value.trim();
  return key === 'name' || key === 'description' ? text : (numberOf(text) ?? text);
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

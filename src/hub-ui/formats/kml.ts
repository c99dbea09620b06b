import { t } from '../languages/language.ts';
import { decodeText } from './decode_text.ts';
import { type Drawing, drawingOnEarth, type Layers, messageOf } from './drawing.ts';
import { exportedKindOf } from './entity_properties.ts';
import { addFeature, type Json, numberIn } from './features.ts';
import { coordinatesOf } from './kml_coordinates.ts';
import { readXml, type XmlElement } from './xml.ts';
import { unzip } from './zip.ts';

/** Reads the main document of a KMZ archive. Throws an Error for an archive without one. */
export function readKmz(archive: Uint8Array): { readonly drawing: Drawing; readonly note: string | undefined } {
  const { text, note } = decodeText(mainDocument(archive), 'xml');
  return { drawing: readKml(text), note };
}

/** Returns the main document of a KMZ archive: `doc.kml` by convention, else the first KML file. */
function mainDocument(archive: Uint8Array): Uint8Array {
  try {
    const files = unzip(archive, (name) => /\.kml$/i.test(name));
    const [first] = files;
    const found = files.find(({ name }) => /^doc\.kml$/i.test(name)) ?? first;
    if (found === undefined) throw new Error(t('The archive contains no KML file'));
    return found.bytes;
  } catch (cause) {
    const message = messageOf(cause);
    throw new Error(t('The KMZ file cannot be read: {message}. Save it as KML.', { message }), { cause });
  }
}

/** Reads a KML document, with a layer per folder. Throws an Error for other XML. */
export function readKml(text: string): Drawing {
  const root = readXml(text, (uri) => /^https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml\//.test(uri));
  const document = new KmlDocument(root);
  if (root.name !== 'kml' && document.placemarks.length === 0) throw new Error(t('The file is XML, but not KML'));
  return drawingOnEarth((layers, isSwapped) => document.addTo(layers, isSwapped));
}

interface Placemark {
  readonly element: XmlElement;
  readonly layer: string;
}

/** Drawable parts of a document, in order. */
class KmlDocument {
  readonly placemarks: Placemark[] = [];
  readonly #unusable: { readonly where: string; readonly why: string }[] = [];
  /** Types of the fields of each schema, by the id of the schema. */
  readonly #schemas = new Map<string, ReadonlyMap<string, string>>();

  constructor(root: XmlElement) {
    this.#find(root, t('Placemarks'));
  }

  /** Collects placemarks and schemas. The layer of a placemark is its nearest named folder. */
  #find(element: XmlElement, layer: string): void {
    const name = textOf(element, 'name') ?? '';
    switch (element.name) {
      case 'Placemark':
        this.placemarks.push({ element, layer });
        return;
      case 'GroundOverlay':
        this.#unusable.push({
          where: name || 'Overlay',
          why: t('Load the image of a ground overlay as the floor plan of a zone.'),
        });
        return;
      case 'NetworkLink':
        this.#unusable.push({ where: name || 'NetworkLink', why: t('Linked files are not read.') });
        return;
      case 'Schema':
        this.#addSchema(element);
        return;
      default: {
        const own = element.name === 'Folder' && name !== '' ? name : layer;
        for (const child of element.children) this.#find(child, own);
      }
    }
  }

  #addSchema({ attributes, children }: XmlElement): void {
    const fields = children.filter(({ name }) => name === 'SimpleField');
    const types = new Map(
      fields.map((field) => [field.attributes.get('name') ?? '', field.attributes.get('type') ?? '']),
    );
    for (const id of [attributes.get('name'), attributes.get('id')]) if (id !== undefined) this.#schemas.set(id, types);
  }

  addTo(layers: Layers, isSwapped: boolean): void {
    for (const [index, { element, layer }] of this.placemarks.entries()) {
      const properties = this.#propertiesOf(element);
      const feature = {
        where: t('Feature {number}', { number: index + 1 }),
        layer: exportedKindOf(properties) ?? layer,
        id: properties['id'] ?? element.attributes.get('id'),
        properties,
        geometries: element.children.flatMap(geometriesIn),
      };
      addFeature(feature, layers, { isSwapped, floorOf: ({ floor, level }) => numberIn(floor ?? level) });
    }
    for (const { where, why } of this.#unusable) layers.reject(where, why);
  }

  /** Returns the strings and extended data of a placemark. Surrounding spaces are significant only in exports of a hub. */
  #propertiesOf(placemark: XmlElement): Json {
    const found: [string, unknown][] = [];
    const add = (key: string, value: unknown): void => {
      found.push([key, value]);
    };
    for (const child of placemark.children) {
      const { name } = child;
      if (TEXTS.has(name)) add(name, isPreserved(child) ? child.text : child.text.trim());
      if (name === 'TimeStamp') add('timestamp', textOf(child, 'when'));
      if (name === 'TimeSpan') add('timespan', { begin: textOf(child, 'begin'), end: textOf(child, 'end') });
      if (name === 'ExtendedData') for (const data of child.children) this.#addData(data, add);
    }
    const properties = Object.fromEntries(found);
    if (exportedKindOf(properties) !== undefined) return properties;
    const trimmed = found.map(([key, value]) => [key, typeof value === 'string' ? value.trim() : value] as const);
    return Object.fromEntries(trimmed.filter(([, value]) => value !== '' && value !== undefined));
  }

  #addData(data: XmlElement, add: (key: string, value: unknown) => void): void {
    const { name, attributes, children, text } = data;
    if (name === 'Data') add(attributes.get('name') ?? '', children.find((child) => child.name === 'value')?.text);
    else if (name === 'SchemaData') {
      const schema = (attributes.get('schemaUrl') ?? '').replace(/^.*#/, '');
      const types = this.#schemas.get(schema);
      for (const field of children) {
        const key = field.attributes.get('name') ?? '';
        if (field.name === 'SimpleData') add(key, typedValue(field.text, types?.get(key)));
      }
    } else if (children.length === 0) add(name, text);
  }
}

const TEXTS: ReadonlySet<string> = new Set(['name', 'description', 'address', 'phoneNumber']);

function isPreserved({ attributes }: XmlElement): boolean {
  return attributes.get('xml:space') === 'preserve';
}

function textOf({ children }: XmlElement, name: string): string | undefined {
  return children.find((child) => child.name === name)?.text.trim();
}

/** Converts a value to the type of its schema field; without a schema, or if invalid, it stays a string. */
function typedValue(text: string, type: string | undefined): unknown {
  const written = text.trim();
  switch (type) {
    case 'bool':
      return (
        ({ '0': false, false: false, '1': true, true: true } as Readonly<Record<string, boolean>>)[written] ?? text
      );
    case 'int':
    case 'uint':
    case 'short':
    case 'ushort':
      return /^[-+]?\d+$/.test(written) && Number.isSafeInteger(Number(written)) ? Number(written) : text;
    case 'float':
    case 'double':
      return written !== '' && Number.isFinite(Number(written)) ? Number(written) : text;
    default:
      return text;
  }
}

/** Single geometries of a placemark's element, as in GeoJSON, or error sentences. */
function geometriesIn(element: XmlElement): readonly (Json | string)[] {
  const { name, children } = element;
  switch (name) {
    case 'MultiGeometry':
      return children.flatMap(geometriesIn);
    case 'Point':
      return [pointOf(element)];
    case 'LinearRing':
    case 'LineString':
      return [geometryOf(name === 'LinearRing' ? 'Polygon' : name, [element])];
    case 'Polygon': {
      const boundaries = ['outerBoundaryIs', 'innerBoundaryIs'].flatMap((side) => {
        return children.filter((child) => child.name === side).flatMap((child) => child.children);
      });
      return [
        geometryOf(
          name,
          boundaries.filter((ring) => ring.name === 'LinearRing'),
        ),
      ];
    }
    case 'Model':
    case 'Track':
    case 'MultiTrack':
    case 'gx:Track':
    case 'gx:MultiTrack':
      return [{ type: name }];
    default:
      return [];
  }
}

function pointOf(point: XmlElement): Json | string {
  const coordinates = coordinatesOf(textOf(point, 'coordinates') ?? '');
  if (typeof coordinates === 'string') return coordinates;
  const [position, ...others] = coordinates;
  return others.length === 0 ? { type: 'Point', coordinates: position } : t('A point has more than one position.');
}

function geometryOf(type: string, rings: readonly XmlElement[]): Json | string {
  const read = rings.map((ring) => coordinatesOf(textOf(ring, 'coordinates') ?? ''));
  const problem = read.find((ring) => typeof ring === 'string');
  return problem ?? { type, coordinates: type === 'LineString' ? read[0] : read };
}

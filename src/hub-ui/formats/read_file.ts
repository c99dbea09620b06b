import { t } from '../languages/language.ts';
import { readCsv, type Table } from './csv.ts';
import { type DecodedText, decodeText } from './decode_text.ts';
import type { Drawing } from './drawing.ts';
import { type HubDocument, readDocument } from './entity_document.ts';
import { objectOf } from './features.ts';
import { parsed, readGeoJson } from './geojson.ts';

/** Export of a hub, drawing, or table. */
type Contents =
  | { readonly is: 'document'; readonly document: HubDocument }
  | { readonly is: 'drawing'; readonly drawing: Drawing }
  | { readonly is: 'table'; readonly table: Table };

/** Contents of a file, with warnings about the file as a whole. */
export type FileContents = Contents & { readonly notes: readonly string[] };

const LARGE_BYTES = 100_000_000;

/** Reads a file by its extension. Readers of rare formats are loaded on demand. Throws an Error with the reason. */
export async function readFile(file: File): Promise<FileContents> {
  if (file.size > LARGE_BYTES)
    throw new Error(t('The file has {count} bytes; the maximum is 100,000,000', { count: file.size }));
  const bytes = new Uint8Array(await file.arrayBuffer());
  const ending = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase();
  switch (ending) {
    case 'csv':
    case 'tsv':
      return read(decodeText(bytes), (text) => ({ is: 'table', table: readCsv(text) }));
    case 'kml':
    case 'kmz': {
      const { readKml, readKmz } = await import('./kml.ts');
      if (ending === 'kml' && !isZip(bytes)) {
        return read(decodeText(bytes, 'xml'), (text) => ({ is: 'drawing', drawing: readKml(text) }));
      }
      const { drawing, note } = readKmz(bytes);
      return { is: 'drawing', drawing, notes: note === undefined ? [] : [note] };
    }
    case 'zip':
      return { is: 'drawing', drawing: (await import('./imdf.ts')).readImdf(bytes), notes: [] };
    case 'dxf': {
      const { readDxf } = await import('./dxf.ts');
      return read(decodeText(bytes, 'dxf'), (text) => ({ is: 'drawing', drawing: readDxf(text) }));
    }
    default:
      return read(decodeText(bytes), ofJson);
  }
}

function read({ text, note }: DecodedText, reader: (text: string) => Contents): FileContents {
  return { ...reader(text), notes: note === undefined ? [] : [note] };
}

/** Whether a file starts with the signature of zip archives, regardless of its extension. */
function isZip([first, second]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b;
}

function ofJson(text: string): Contents {
  const { type } = objectOf(parsed(text));
  return typeof type === 'string' && !text.includes('"location-hub-entities"')
    ? { is: 'drawing', drawing: readGeoJson(text) }
    : { is: 'document', document: readDocument(text) };
}

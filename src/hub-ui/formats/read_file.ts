import { t } from '../languages/language.ts';
import { type EntityDocument, readDocument } from '../lists/entity_document.ts';
import { readCsv, type Table } from './csv.ts';
import type { Drawing } from './drawing.ts';
import { objectOf, parsed, readGeoJson } from './geojson.ts';

/** What a file is: the entities of a hub, something drawn, or a table. */
export type FileContents =
  | { readonly is: 'document'; readonly document: EntityDocument }
  | { readonly is: 'drawing'; readonly drawing: Drawing }
  | { readonly is: 'table'; readonly table: Table };

const LARGE_BYTES = 100_000_000;

/** Reads a file by what its name ends in. What few files need is loaded then. Throws an Error that says what is wrong. */
export async function readFile(file: File): Promise<FileContents> {
  if (file.size > LARGE_BYTES)
    throw new Error(t('The file has {count} bytes; 100,000,000 can be read', { count: file.size }));
  const ending = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase();
  switch (ending) {
    case 'csv':
    case 'tsv':
      return { is: 'table', table: readCsv(await file.text()) };
    case 'kml':
      return { is: 'drawing', drawing: (await import('./kml.ts')).readKml(await file.text()) };
    case 'zip':
      return {
        is: 'drawing',
        drawing: (await import('./imdf.ts')).readImdf(new Uint8Array(await file.arrayBuffer())),
      };
    case 'dxf':
      return { is: 'drawing', drawing: (await import('./dxf.ts')).readDxf(await file.text()) };
    default:
      return ofJson(await file.text());
  }
}

function ofJson(text: string): FileContents {
  const { type } = objectOf(parsed(text));
  return typeof type === 'string' && !text.includes('"location-hub-entities"')
    ? { is: 'drawing', drawing: readGeoJson(text) }
    : { is: 'document', document: readDocument(text) };
}

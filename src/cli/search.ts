import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../errors.ts';
import { decodeUnicode } from '../model/decode_unicode.ts';
import type { Polygon } from '../model/geojson.ts';
import { isObject } from '../model/json_tree.ts';
import {
  MATCHES_DEFAULT,
  MATCHES_MAX,
  SEARCHED_KINDS,
  type SearchMatch,
  type SearchRequest,
  type SearchResult,
} from '../model/search.ts';
import { CliError } from './command_error.ts';
import { hubClient, type HubReply, parsedReply } from './hub_client.ts';
import { hubOption, interruption, number } from './options.ts';
import { printable } from './printable.ts';

interface SearchOptions extends Omit<SearchRequest, 'region'> {
  readonly hub: string;
  /** Path of a GeoJSON file. */
  readonly region?: string;
  readonly json?: true;
}

const HEADINGS = ['distance', 'id', 'name', 'longitude', 'latitude', 'floor', 'accuracy', 'time'];

/** `search`: the objects near a point or in a region. */
export function searchCommand(): Command {
  return new Command('search')
    .description('print the objects near a point or in a region, the nearest first')
    .addOption(new Option('--kind <kind>', 'kind of the objects').choices(SEARCHED_KINDS).default('trackable'))
    .option('--near <lon,lat>', 'longitude and latitude of a point in degrees', lonLat)
    .option('--radius <meters>', 'greatest distance from the point', number({ above: 0 }))
    .option('--region <file>', 'GeoJSON file with a polygon that contains the objects')
    .option(
      '--k <count>',
      `maximum number of objects; default ${MATCHES_DEFAULT}`,
      number({ min: 1, max: MATCHES_MAX, whole: true }),
    )
    .option('--floor <floor>', 'only objects on this floor', number({}))
    .option('--where <expression>', 'only objects whose last location fulfills it, such as "accuracy < 5"')
    .option('--json', 'print the answer of the hub as JSON')
    .addOption(hubOption())
    .action(search);
}

async function search({ hub, region: file, json, ...terms }: SearchOptions): Promise<void> {
  if (terms.near == null && file === undefined) throw new CliError('Name a point with --near, or a file with --region');
  if (terms.near == null && terms.radius != null) throw new CliError('--radius needs a point: --near');
  const region = file === undefined ? undefined : await polygonIn(file);
  const request: SearchRequest = { ...terms, ...(region !== undefined && { region }) };
  const reply = await hubClient(hub, { signal: interruption() }).send('POST', '/search', request);
  if (!reply.ok && terms.where != null) throw new CliError(rejectionOf(reply, terms.where));
  const { matches, complete } = parsedReply(reply) as SearchResult;
  if (json === true) {
    process.stdout.write(`${reply.text}\n`);
    return;
  }
  process.stdout.write(tableOf(matches));
  // Not part of the table, which another program may read.
  if (!complete) process.stderr.write(`There are more than these ${matches.length}: --k raises the number\n`);
}

/** Parses a longitude and a latitude with a comma between them. */
function lonLat(text: string): number[] {
  const parts = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (parts.length === 2 && parts.every(Number.isFinite)) return parts;
  throw new InvalidArgumentError('It must be a longitude and a latitude, such as 7.6258,51.9607.');
}

/** The polygon of a GeoJSON file: a geometry, a feature, or a collection with one feature. Throws a CliError. */
async function polygonIn(file: string): Promise<Polygon> {
  let value: unknown;
  try {
    value = JSON.parse(decodeUnicode(await readFile(file)));
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${messageOf(error)}`);
  }
  if (isObject(value) && value['type'] === 'FeatureCollection') {
    const features: unknown = value['features'];
    const count = Array.isArray(features) ? features.length : 0;
    if (count !== 1) throw new CliError(`${file}: must have one feature, found ${count}`);
    value = (features as readonly unknown[])[0];
  }
  if (isObject(value) && value['type'] === 'Feature') value = value['geometry'];
  const type = isObject(value) ? value['type'] : undefined;
  // The hub checks the positions.
  if (type === 'Polygon') return value as Polygon;
  throw new CliError(`${file}: must be a GeoJSON Polygon, found ${JSON.stringify(type) ?? 'no type'}`);
}

/** The rejection of a search; with the expression, and a mark below the invalid column. */
function rejectionOf({ status, message, text }: HubReply, where: string): string {
  const rejection = `The hub rejects the request: ${message} (${status})`;
  const column = columnOf(text);
  if (column === undefined) return rejection;
  // A tab would move the mark, and a line break would separate it.
  const line = printable(where);
  return `${rejection}\n  ${line}\n  ${' '.repeat(column - 1)}^`;
}

function columnOf(body: string): number | undefined {
  try {
    const { params } = JSON.parse(body) as { readonly params?: Readonly<Record<string, unknown>> };
    const column = params?.['path'] === 'where' ? params['column'] : undefined;
    return typeof column === 'number' ? column : undefined;
  } catch {
    return undefined;
  }
}

/** Lines with aligned columns; those without any value are omitted. */
function tableOf(matches: readonly SearchMatch[]): string {
  const rows = matches.map(rowOf);
  const columns = HEADINGS.map((heading, i) => ({ heading, values: rows.map((row) => row[i] ?? '') }))
    .filter(({ values }) => values.some((value) => value !== ''))
    .map(({ heading, values }) => {
      const cells = [heading, ...values];
      const width = Math.max(...cells.map(({ length }) => length));
      return cells.map((cell) => cell.padEnd(width));
    });
  return rows.length === 0 ? '' : ['', ...rows].map((_, i) => lineOf(columns.map((cells) => cells[i] ?? ''))).join('');
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join('  ').trimEnd()}\n`;
}

/** Cells in the order of the headings. */
function rowOf({ distance, location: own, motion }: SearchMatch): readonly string[] {
  const location = own ?? motion?.location;
  const [lon = Number.NaN, lat = Number.NaN] = location?.position.coordinates ?? [];
  return [
    distance === undefined ? '' : `${distance.toFixed(2)} m`,
    printable(motion?.id ?? location?.provider_id ?? ''),
    printable(motion?.name ?? ''),
    lon.toFixed(7),
    lat.toFixed(7),
    String(location?.floor ?? ''),
    location?.accuracy == null ? '' : `${location.accuracy} m`,
    location?.timestamp_generated ?? '',
  ];
}

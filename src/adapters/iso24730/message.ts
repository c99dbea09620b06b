import { readVendorTime } from '../../model/vendor_time.ts';
import { type ReportColumn, columnsOf, DEFAULT_COLUMNS } from './columns.ts';
import type { Locate } from './locate.ts';

/**
 * Messages of ISO/IEC 24730-1:2014, "text over socket": one message per line, with fields separated by commas and
 * without quotes or escapes.
 *
 *     KeepAlive,<seconds>
 *     FieldDefinition,<field>,<XML tag>,<type>,<min length>,<max length>
 *     LocateMessageDefinition,<source>,<format>,<field>,<field>,...
 *     <source>,<format>,<values in the order of the definition>
 *
 * A locate message has no keyword. It is any other line whose format is defined or DFT, or whose first nine fields look
 * like those of DFT.
 */
export type RtlsMessage =
  | { readonly kind: 'keep_alive'; readonly seconds: number }
  | { readonly kind: 'field_definition'; readonly name: string; readonly tag: string; readonly type: string }
  | { readonly kind: 'locate_definition'; readonly layout: string; readonly columns: readonly ReportColumn[] }
  | { readonly kind: 'locate'; readonly locate: Locate }
  | { readonly kind: 'unknown'; readonly first: string };

/** Columns defined on the connection, by layoutKey. */
export type Layouts = ReadonlyMap<string, readonly ReportColumn[]>;

/** Maximum number of columns of a definition. */
export const COLUMNS_MAX = 256;

/** Parses a line. The seconds of a KeepAlive are 0 if they are not a positive number. */
export function readMessage(line: string, layouts: Layouts): RtlsMessage {
  const fields = line.split(',').map((field) => field.trim());
  const first = fields[0] ?? '';
  switch (first.toLowerCase()) {
    case 'keepalive':
      return { kind: 'keep_alive', seconds: secondsOf(fields[1]) };
    case 'fielddefinition': {
      const [, name = '', tag = '', type = ''] = fields;
      return { kind: 'field_definition', name, tag, type };
    }
    case 'locatemessagedefinition':
      return readDefinition(fields);
    default:
      return readLocate(fields, layouts);
  }
}

function readDefinition(fields: readonly string[]): RtlsMessage {
  const [first = '', source = '', format = '', ...names] = fields;
  if (names.length === 0 || names.length > COLUMNS_MAX) return { kind: 'unknown', first };
  return { kind: 'locate_definition', layout: layoutKey(source, format), columns: columnsOf(names) };
}

function readLocate(fields: readonly string[], layouts: Layouts): RtlsMessage {
  const [source = '', format = '', ...values] = fields;
  const columns = layouts.get(layoutKey(source, format)) ?? presumedColumns(fields);
  if (columns === undefined) return { kind: 'unknown', first: source };
  return { kind: 'locate', locate: { source, format, values, columns } };
}

/** Returns the presumed columns of an undefined format; undefined if the line is not a locate message. */
function presumedColumns(fields: readonly string[]): readonly ReportColumn[] | undefined {
  const [, format = '', tagIdFormat = '', tagId = ''] = fields;
  if (format.toLowerCase() === 'dft') return DEFAULT_COLUMNS;
  // Rejects lines of other protocols, which would become tags at absurd positions.
  if (!/^[0-9a-f]{1,4}$/i.test(tagIdFormat) || tagId === '') return undefined;
  const time = fields[8];
  return time === undefined || Number.isNaN(readVendorTime(time)) ? undefined : DEFAULT_COLUMNS;
}

/** Returns the key of a format, which is unique because fields contain no comma. */
function layoutKey(source: string, format: string): string {
  return `${source},${format}`;
}

function secondsOf(text = ''): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
}

/** Whether the line belongs to a known vendor's older stream, which is on a different port than the standard stream. */
export function isZebraLegacy(line: string): boolean {
  const fields = line.split(',', 7);
  return /^[RTOPNDI]$/.test(fields[0] ?? '') && /^\d{9,10}(\.\d*)?$/.test(fields[6] ?? '');
}

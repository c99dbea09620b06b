/** Meaning of a value in a locate message. Also the names that the hub publishes. */
export type Field =
  | 'source'
  | 'format'
  | 'tag_id_format'
  | 'tag_id'
  | 'x'
  | 'y'
  | 'z'
  | 'battery'
  | 'timestamp'
  | 'classification'
  | 'zone'
  | 'exciter_id'
  | 'antenna_id'
  | 'data'
  | 'algorithm';

/** A column of a format: a field of the standard, or a vendor's field under its declared name. */
export interface ReportColumn {
  readonly field: Field | undefined;
  readonly name: string;
}

/** Names and XML tags of the standard's fields, in lower case and without blanks, underscores and hyphens. */
const FIELDS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['source', 'source'],
  ['src', 'source'],
  ['format', 'format'],
  ['fmt', 'format'],
  ['tagidformat', 'tag_id_format'],
  ['idfmt', 'tag_id_format'],
  ['tagid', 'tag_id'],
  ['tid', 'tag_id'],
  ['x', 'x'],
  ['y', 'y'],
  ['z', 'z'],
  ['battery', 'battery'],
  ['bat', 'battery'],
  ['timestamp', 'timestamp'],
  ['t', 'timestamp'],
  ['classification', 'classification'],
  ['cls', 'classification'],
  ['zone', 'zone'],
  ['zon', 'zone'],
  ['exciterid', 'exciter_id'],
  ['exc', 'exciter_id'],
  ['antennaid', 'antenna_id'],
  ['ant', 'antenna_id'],
  ['data', 'data'],
  ['dat', 'data'],
  ['algorithm', 'algorithm'],
  ['alg', 'algorithm'],
]);

/** Returns the column declared by a name or an XML tag. */
export function columnOf(name: string): ReportColumn {
  return { field: FIELDS.get(name.toLowerCase().replaceAll(/[ _-]/g, '')), name };
}

/** Returns the columns of a definition, without source and format, which some senders repeat. */
export function columnsOf(names: readonly string[]): readonly ReportColumn[] {
  const columns = names.map(columnOf);
  const repeats = columns[0]?.field === 'source' && columns[1]?.field === 'format';
  return repeats ? columns.slice(2) : columns;
}

/** Columns of the format DFT, which needs no definition. Every known format starts with the same columns. */
export const DEFAULT_COLUMNS: readonly ReportColumn[] = [
  'tag_id_format',
  'tag_id',
  'x',
  'y',
  'z',
  'battery',
  'timestamp',
].map(columnOf);

import type { Kind } from '../hub/kinds.ts';

/** How a value is written: seconds are kept as milliseconds, with -1 for ever. */
export type BulkUnit = 'floor' | 's' | 'm' | 'property' | 'trackable';

/** What can be changed of many entities at once. */
export interface BulkField {
  readonly name: string;
  readonly unit: BulkUnit;
}

const ENTRY: readonly BulkField[] = [
  { name: 'entry_delay', unit: 's' },
  { name: 'entry_tolerance_timeout', unit: 's' },
];
const EXIT: readonly BulkField[] = [
  { name: 'exit_delay', unit: 's' },
  { name: 'exit_tolerance', unit: 'm' },
  { name: 'tolerance_timeout', unit: 's' },
];
const PROPERTY: BulkField = { name: 'properties', unit: 'property' };

export const BULK_FIELDS: Readonly<Record<Kind, readonly BulkField[]>> = {
  zones: [{ name: 'floor', unit: 'floor' }, PROPERTY],
  fences: [
    { name: 'floor', unit: 'floor' },
    ...EXIT,
    ...ENTRY,
    { name: 'entry_tolerance', unit: 'm' },
    { name: 'timeout', unit: 's' },
    { name: 'extrusion', unit: 'm' },
    PROPERTY,
  ],
  trackables: [{ name: 'fence_timeout', unit: 's' }, ...EXIT, ...ENTRY, { name: 'radius', unit: 'm' }, PROPERTY],
  providers: [
    { name: 'assignment', unit: 'trackable' },
    { name: 'fence_timeout', unit: 's' },
    ...EXIT,
    ...ENTRY,
    PROPERTY,
  ],
  anchors: [PROPERTY],
};

/** A value of a property as somebody writes it: JSON where it is some, else the text itself. */
export function propertyValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

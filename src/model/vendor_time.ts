import { parseTime } from './time.ts';

const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,:](\d+))?(?:[Zz]|([+-])(\d{1,2})(?::?(\d\d))?)?$/;

/**
 * Parses the date and time formats of positioning systems. Date and time are separated by a T or a blank, the fraction
 * follows a point, a comma or a colon, and the offset may lack its colon, its minutes or a digit. Without an offset,
 * the time is UTC. Returns integer milliseconds since 1970; NaN if `text` is not such a time.
 */
export function readVendorTime(text: string): number {
  const found = FORM.exec(text);
  if (found === null) return Number.NaN;
  const [, date, time, fraction, sign, hours = '', minutes = '00'] = found;
  const offset = sign === undefined ? 'Z' : `${sign}${hours.padStart(2, '0')}:${minutes}`;
  return Math.floor(parseTime(`${date}T${time}${fraction === undefined ? '' : `.${fraction}`}${offset}`));
}

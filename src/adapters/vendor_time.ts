import { parseTime } from '../model/time.ts';

const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,:](\d+))?(?:[Zz]|([+-])(\d{1,2})(?::?(\d\d))?)?$/;

/**
 * Milliseconds since 1970, a whole number, of a date and time as positioning systems write it: a T or a blank in the
 * middle, the fraction behind a point, a comma or a colon, an offset that may lack its colon, its minutes or a digit.
 * Without an offset it is UTC. NaN when the text is something else.
 */
export function readVendorTime(text: string): number {
  const found = FORM.exec(text);
  if (found === null) return Number.NaN;
  const [, date, time, fraction, sign, hours = '', minutes = '00'] = found;
  const offset = sign === undefined ? 'Z' : `${sign}${hours.padStart(2, '0')}:${minutes}`;
  return Math.floor(parseTime(`${date}T${time}${fraction === undefined ? '' : `.${fraction}`}${offset}`));
}

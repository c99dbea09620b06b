/** Time zone of the page, for display and input: that of the browser, or the user's setting. */

const KEY = 'hub-time-zone';

/** Undefined in tests without a browser. */
const storage = globalThis.localStorage as Storage | undefined;

/** Setting stored in this browser; undefined for the browser's own zone. */
export const chosenTimeZone: string | undefined = canonicalZone(storage?.getItem(KEY) ?? undefined);

/** IANA name of the page's time zone; a change takes effect on reload. */
export const timeZone: string = chosenTimeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Stores the setting in this browser and reloads the page. */
export function chooseTimeZone(zone: string | undefined): void {
  if (zone === undefined) storage?.removeItem(KEY);
  else storage?.setItem(KEY, zone);
  location.reload();
}

/** IANA names of the selectable zones. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

/** Canonical name of a zone; undefined if this browser does not support it. */
function canonicalZone(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/**
 * Paths below the origin of the page. A proxy may serve the hub below a path such as /rtls/hub-ui/. The URLs of the page,
 * its workers and its service worker all contain that prefix.
 */

const UI = '/hub-ui';

/** Path prefix of the hub; empty at the root of an origin. */
export const PREFIX = prefixOf((globalThis.location as Location | undefined)?.pathname ?? '');
export const API_PATH = `${PREFIX}/hub/v2`;
/** Path of the web UI, without a trailing slash. */
export const UI_PATH = PREFIX + UI;

/** Returns the part of a path before the path of the web UI. */
export function prefixOf(pathname: string): string {
  const at = `${pathname}/`.indexOf(`${UI}/`);
  return at === -1 ? '' : pathname.slice(0, at);
}

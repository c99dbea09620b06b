/**
 * Where things are below the origin of this page. A proxy may show the hub below a path, such as /rtls/hub-ui/: the page, its
 * workers and its service worker all have that in their own addresses.
 */

const UI = '/hub-ui';

/** What comes before the paths of the hub: empty at the root of a site. */
export const PREFIX = prefixOf((globalThis.location as Location | undefined)?.pathname ?? '');
export const API_PATH = `${PREFIX}/hub/v2`;
/** Without a slash at the end. */
export const UI_PATH = PREFIX + UI;

/** What comes before the web UI in an address of it. */
export function prefixOf(pathname: string): string {
  const at = `${pathname}/`.indexOf(`${UI}/`);
  return at === -1 ? '' : pathname.slice(0, at);
}

import { signal } from '@preact/signals';
import { DEFAULT_BOUNDS } from '../../model/bounds.ts';
import { can } from './access.ts';
import { UI_PATH } from './api_path.ts';
import { getText } from './rest.ts';

/** Settings that the page loads from the hub at its start. */
export interface PageSettings {
  readonly hub_version: string;
  readonly map_tiles: MapTileSettings | null;
  /** Sign-in server, or `by` key without one; null on a hub without authorization. */
  readonly sign_in: SignInSettings | { readonly by: 'key' } | null;
  /** Whether the hub records history. */
  readonly history: boolean;
  /** Limit for the properties of an entity, in bytes of JSON. */
  readonly entity_properties_bytes: number;
}

/** Background tiles of the map. */
export interface MapTileSettings {
  /** URL with {z}, {x} and {y}, or of a PMTiles file. */
  readonly url: string;
  readonly kind: 'images' | 'vector' | 'pmtiles';
  readonly attribution: string;
  /** Beyond this zoom level, tiles are enlarged; null if not configured. */
  readonly max_zoom: number | null;
}

export interface SignInSettings {
  /** URL of the OpenID configuration of the identity server. */
  readonly config_url: string;
  readonly client_id: string;
}

export const settings = signal<PageSettings>({
  hub_version: '',
  map_tiles: null,
  sign_in: null,
  history: false,
  entity_properties_bytes: DEFAULT_BOUNDS.entityPropertiesBytes,
});

/** Returns whether the hub records history and the user may read it from an API path. */
export function hasHistory(path = '/history/tracks'): boolean {
  return settings.value.history && can('READ', path);
}

/** Loads the settings, with retries for 15 s unless `isOnce`. Returns false on failure; the page then uses defaults. */
export async function loadSettings({ isOnce = false }: { readonly isOnce?: boolean } = {}): Promise<boolean> {
  try {
    settings.value = JSON.parse(await getText(`${UI_PATH}/settings.json`, { isOnce })) as PageSettings;
    return true;
  } catch {
    // The connection state already shows that the hub is unreachable.
    return false;
  }
}

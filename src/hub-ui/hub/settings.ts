import { signal } from '@preact/signals';
import { DEFAULT_BOUNDS } from '../../model/bounds.ts';
import { can } from './access.ts';
import { UI_PATH } from './api_path.ts';
import { getText } from './rest.ts';

/** What the hub tells the page before anything else. */
export interface PageSettings {
  readonly hub_version: string;
  readonly map_tiles: MapTileSettings | null;
  /** Where people sign in; null where nobody has to. */
  readonly sign_in: SignInSettings | null;
  /** Whether the hub records where everything was. */
  readonly history: boolean;
  /** Bytes of JSON that the properties of an entity may have. */
  readonly entity_properties_bytes: number;
}

/** What lies below the map. */
export interface MapTileSettings {
  /** With {z}, {x} and {y} but for a PMTiles file. */
  readonly url: string;
  readonly kind: 'images' | 'vector' | 'pmtiles';
  readonly attribution: string;
  /** Nearer than this level of zoom they are enlarged; null where nobody has said. */
  readonly max_zoom: number | null;
}

export interface SignInSettings {
  /** Address of the OpenID configuration of the identity server. */
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

/** Whether the hub records history, and the user may read what a path of the API tells of it. */
export function hasHistory(path = '/history/tracks'): boolean {
  return settings.value.history && can('READ', path);
}

/** Asks for the settings, for 15 s or once. Returns false when they cannot be had: the page does without them then. */
export async function loadSettings({ isOnce = false }: { readonly isOnce?: boolean } = {}): Promise<boolean> {
  try {
    settings.value = JSON.parse(await getText(`${UI_PATH}/settings.json`, { isOnce })) as PageSettings;
    return true;
  } catch {
    // The connection's state says that the hub cannot be reached.
    return false;
  }
}

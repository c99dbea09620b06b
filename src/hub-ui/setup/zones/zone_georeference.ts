import type { Zone } from '../../../model/zone.ts';
import type { Option } from '../../controls/select.tsx';
import type { Draft } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';

export type Placing = 'gcp' | 'proximity' | 'benchmark' | 'none';

/** Georeferencing method of a zone: its own setting, or else the hub's default for its type. */
export function placingOf(zone: Draft<'zones'>): Placing {
  if (zone.transformation_type != null) return zone.transformation_type;
  if (zone.type === 'rfid' || zone.type === 'ibeacon') return 'proximity';
  if (zone.type === 'generic' && zone.surface_projection != null) return 'benchmark';
  if ((zone.ground_control_points?.length ?? 0) > 0) return 'gcp';
  return zone.type === 'none' ? 'none' : 'gcp';
}

/** Drawable zone of a draft, with the defaults of the hub. */
export function drawable(draft: Draft<'zones'>): Zone {
  const placing = placingOf(draft);
  const { position, ground_control_points: rows, ...rest } = draft;
  return {
    ...rest,
    id: draft.id ?? 'new zone',
    type: draft.type ?? 'uwb',
    ...(placing === 'proximity' || placing === 'benchmark' ? { position } : {}),
    ...(placing === 'gcp' ? { ground_control_points: rows } : {}),
  } as Zone;
}

/** Labeled types of zones. */
export const ZONE_TYPES: readonly Option<Zone['type']>[] = [
  { value: 'uwb', label: 'UWB' },
  { value: 'ble-aoa', label: t('Bluetooth, angle of arrival') },
  { value: 'ble-mesh', label: t('Bluetooth mesh') },
  { value: 'wifi', label: 'Wi-Fi' },
  { value: 'gps', label: 'GPS' },
  { value: 'rfid', label: t('RFID, near a reader') },
  { value: 'ibeacon', label: t('iBeacon, near a beacon') },
  { value: 'iso-24730', label: 'ISO 24730' },
  { value: 'generic', label: t('Generic') },
  { value: 'virtual', label: t('Virtual') },
  { value: 'unknown', label: t('Unknown') },
  { value: 'none', label: t('Not placed') },
];

export const PLACINGS: readonly { readonly value: Placing; readonly label: string; readonly help: string }[] = [
  {
    value: 'gcp',
    label: t('Control points'),
    help: t('Points with geographic and local coordinates.'),
  },
  { value: 'proximity', label: t('One position'), help: t('Objects that the reader or beacon detects are near it.') },
  {
    value: 'benchmark',
    label: t('Benchmark'),
    help: t('An origin in a UTM or UPS plane, and the rotation of the axes.'),
  },
  { value: 'none', label: t('Not placed'), help: t('Positions stay in the meters of the zone.') },
];

/** Kinds of location providers, separate from their schema: workers need the list but not the schema library. */
export const PROVIDER_TYPES = [
  'uwb',
  'gps',
  'wifi',
  'rfid',
  'ibeacon',
  'ble-aoa',
  'ble-mesh',
  'virtual',
  'unknown',
] as const;

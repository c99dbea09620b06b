/** Kinds of location providers, apart from their schema: workers need the list, and not the library of the schemas. */
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

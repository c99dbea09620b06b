/** Kinds of location providers. Apart from the schemas: the workers know no other use of these than that list. */
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

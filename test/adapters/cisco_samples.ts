import { Hierarchies } from '../../src/adapters/cisco/hierarchy.ts';
import type { Zone } from '../../src/model/zone.ts';

/** A floor whose coordinates are meters from its southwestern corner. */
function floorZone(id: string, more: Partial<Zone>): Zone {
  return {
    id,
    type: 'wifi',
    ground_control_points: [
      [8.675, 49.417],
      [0, 0],
      [8.676, 49.417],
      [72.5, 0],
      [8.676, 49.418],
      [72.5, 111.2],
    ],
    ...more,
  };
}

export const OFFICE = floorZone('11111111-0000-4000-8000-000000000001', {
  foreign_id: 'Mathematikon>Berliner Str. 41>5. OG komplett [f.4]',
  floor: 4,
});
export const WORKS = floorZone('11111111-0000-4000-8000-000000000002', {
  foreign_id: 'Works>Hall 3>Level 0',
  floor: 0,
});

/** An index of these zones. */
export function hierarchies(...zones: readonly Zone[]): Hierarchies {
  const known = new Hierarchies();
  for (const zone of zones) known.set(zone.id, zone);
  return known;
}

/** Notifications in the format of the vendor's products, by subject. */
export const NOTIFICATIONS = {
  inFeet: {
    notificationType: 'locationupdate',
    subscriptionName: 'hub',
    eventId: 101,
    locationMapHierarchy: 'Mathematikon>Berliner Str. 41>5. OG komplett [f.4]',
    locationCoordinate: { x: 41.01, y: 98.425, z: 0.0, unit: 'FEET' },
    geoCoordinate: { latitude: -999.0, longitude: -999.0, unit: 'DEGREES' },
    confidenceFactor: 56.0,
    apMacAddress: '02:00:5e:aa:00:01',
    associated: true,
    username: 'somebody',
    ipAddress: ['192.0.2.10'],
    ssid: 'plant',
    band: 'IEEE_802_11_A',
    floorId: '723413320329068590',
    entity: 'WIRELESS_CLIENTS',
    deviceId: '02:00:5e:10:00:01',
    lastSeen: '2026-11-20T11:04:07.120+0100',
    timestamp: 1795169047120,
  },
  inZoneOfVendor: {
    notificationType: 'movement',
    locationMapHierarchy: 'Works>Hall 3>Level 0>Paint shop',
    locationCoordinate: { x: 12.5, y: 30.25, z: 1.5, unit: 'METERS' },
    geoCoordinate: null,
    confidenceFactor: 8,
    deviceId: '02:00:5e:10:00:02',
    entity: 'TAGS',
    moveDistanceInFt: 10000.0,
    timestamp: 1795169050000,
  },
  geographic: {
    notificationType: 'InOut',
    locationMapHierarchy: 'Campus X>B1>F2',
    locationCoordinate: { x: 10, y: 10, z: 0, unit: 'FEET' },
    geoCoordinate: { latitude: 49.41733, longitude: 8.67521, unit: 'DEGREES' },
    confidenceFactor: 72,
    associated: false,
    deviceId: '02:00:5e:10:00:03',
    boundary: 'OUTSIDE',
    areaType: 'FLOOR',
    timestamp: 1795169051000,
  },
  association: {
    notificationType: 'association',
    deviceId: '02:00:5e:10:00:01',
    association: true,
    status: 3,
    ssid: 'plant',
    band: null,
    timestamp: 1795169052000,
  },
  withArrows: {
    notificationType: 'locationupdate',
    locationMapHierarchy: 'Works-> Hall 3-> Level 0',
    locationCoordinate: { unit: 'FEET', x: 128.7, y: 111.3, z: 0 },
    confidenceFactor: 88,
    entity: 'WIRELESS_CLIENTS',
    deviceId: '02:00:5e:10:00:04',
    lastSeen: '2026-11-20 10:04:13.468+0000',
    floorId: '720582563218976008',
    tenantId: '1',
    timestamp: 1795169053468,
  },
  nowhere: {
    notificationType: 'locationupdate',
    locationMapHierarchy: 'Nowhere>B>F',
    locationCoordinate: { x: 1, y: 2, z: 0, unit: 'FEET' },
    geoCoordinate: { latitude: -999, longitude: -999, unit: 'DEGREES' },
    deviceId: '02:00:5e:10:00:05',
    timestamp: 1795169054000,
  },
} as const;

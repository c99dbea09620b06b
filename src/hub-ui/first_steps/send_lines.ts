import type { Zone } from '../../model/zone.ts';
import { curlCommand, quoted } from '../lists/curl.ts';

/** Provider in the commands that send a first location. */
const PROVIDER = 'tag-1';
/** Position for a hub without a georeferenced zone: longitude and latitude. */
const ELSEWHERE: readonly [number, number] = [8.6007, 50.0503];

/** Middle of the first zone with a position, as longitude and latitude. */
export function firstPosition(zones: Iterable<Zone>): readonly [number, number] {
  for (const { ground_control_points: rows, position } of zones) {
    const points = (rows ?? []).filter((_, i) => i % 2 === 0);
    const mean = (axis: number): number => points.reduce((sum, at) => sum + (at[axis] ?? 0), 0) / points.length;
    if (points.length > 0) return [round(mean(0)), round(mean(1))];
    if (position != null) return [round(position.coordinates[0] ?? 0), round(position.coordinates[1] ?? 0)];
  }
  return ELSEWHERE;
}

function round(degrees: number): number {
  return Number(degrees.toFixed(6));
}

function locationAt(coordinates: readonly number[]) {
  return {
    provider_id: PROVIDER,
    provider_type: 'uwb',
    source: 'first-steps',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates },
  };
}

/** Shell command that sends a location over REST. */
export function curlLine(coordinates: readonly number[]): string {
  return curlCommand('PUT', '/providers/locations', [locationAt(coordinates)]);
}

/** Shell command that publishes a location to the broker of the hub, such as `mqtt://broker.example:1883`. */
export function mqttLine(broker: string, coordinates: readonly number[]): string {
  const { hostname, port, protocol } = new URL(broker);
  const options = ['-V 5', `-h ${hostname}`, ...(port === '' ? [] : [`-p ${port}`])];
  if (/^(mqtts|ssl|tls|wss)/.test(protocol)) options.push('--tls-use-os-certs');
  const topic = `/omlox/json/location_updates/pub/${PROVIDER}`;
  return `mosquitto_pub ${options.join(' ')} -t ${quoted(topic)} \\\n  -m ${quoted(JSON.stringify(locationAt(coordinates)))}`;
}

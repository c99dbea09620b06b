import assert from 'node:assert/strict';
import { openShapeChecks } from '../../src/fence_index/shape_checks.ts';
import { type OpenApi, openApi, type Shown } from './open_api.ts';

const shapes = await openShapeChecks();

/** Opens the API with a geometry engine and the zones of a test. */
export async function withZones(...zones: object[]): Promise<OpenApi> {
  const api = openApi({ entities: { shapes } });
  for (const zone of zones) assert.equal((await api.send('POST', '/v2/zones', zone)).status, 201);
  return api;
}

/** Returns the exterior ring of a fence in a reply. */
export function polygonOf({ region }: Shown): number[][] {
  return (region.coordinates[0] ?? []) as unknown as number[][];
}

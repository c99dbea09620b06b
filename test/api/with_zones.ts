import assert from 'node:assert/strict';
import { openRegionCheck } from '../../wasm/region_check.ts';
import { type OpenApi, openApi, type Shown } from './open_api.ts';

const regionProblem = await openRegionCheck();

/** The API with a geometry engine, beside the zones of a test. */
export async function withZones(...zones: object[]): Promise<OpenApi> {
  const api = openApi({ entities: { regionProblem } });
  for (const zone of zones) assert.equal((await api.send('POST', '/v2/zones', zone)).status, 201);
  return api;
}

/** The exterior ring of a fence that is shown. */
export function polygonOf({ region }: Shown): number[][] {
  return (region.coordinates[0] ?? []) as unknown as number[][];
}

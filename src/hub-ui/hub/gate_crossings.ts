import { entityPath, get } from './rest.ts';

/** Crossings of a gate by direction, looking along its line. */
export interface GateCrossings {
  readonly left: number;
  readonly right: number;
}

/** Returns the crossings of a gate since midnight of the browser. Throws a RequestError. */
export async function crossingsToday(fenceId: string): Promise<GateCrossings> {
  const from = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  return await get<GateCrossings>(`${entityPath('fences', fenceId)}/crossings`, { from });
}

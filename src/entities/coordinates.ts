import { pathOf, show } from '../model/show.ts';
import { badRequest } from './body.ts';

/** Throws HUB_BAD_REQUEST when the position is no longitude and latitude. Longitudes reach to ±`lonMax`. */
export function checkLonLat(position: readonly number[], path: string, lonMax: number): void {
  const [lon = 0, lat = 0] = position;
  if (Math.abs(lon) > lonMax) {
    throw badRequest(`${pathOf(path, ['0'])}: must be a longitude from -${lonMax} to ${lonMax}, found ${show(lon)}`);
  }
  if (Math.abs(lat) > 90) {
    throw badRequest(`${pathOf(path, ['1'])}: must be a latitude from -90 to 90, found ${show(lat)}`);
  }
}

/** Where the map of the earth ends. */
const LATITUDE_MAX = 85;

/**
 * Longitude and latitude, as people write them: with a comma, a semicolon or a space between them, a degree sign or not.
 * A sentence says what is wrong with a text that is no place.
 */
export function placeOf(text: string): readonly [longitude: number, latitude: number] | string {
  const parts = text.split(/[,;\s]+/).filter((part) => part !== '');
  if (parts.length === 0) return 'Write a longitude and a latitude, such as 8.68, 50.11.';
  const numbers = parts.map((part) => Number(part.replace(/°$/, '').replace('−', '-')));
  if (numbers.some((number) => !Number.isFinite(number))) {
    return `“${text.trim()}” is no place in numbers. Write a longitude and a latitude, such as 8.68, 50.11.`;
  }
  const [longitude, latitude] = numbers;
  if (longitude === undefined || latitude === undefined || numbers.length !== 2) {
    return `These are ${numbers.length === 1 ? 'only one number' : `${numbers.length} numbers`}. Write a longitude and a latitude, such as 8.68, 50.11.`;
  }
  if (Math.abs(longitude) > 180) return `The longitude comes first and must be from −180 to 180; it is ${longitude}.`;
  if (Math.abs(latitude) > LATITUDE_MAX) {
    return `The latitude comes second and must be from −${LATITUDE_MAX} to ${LATITUDE_MAX}; it is ${latitude}.`;
  }
  return [longitude, latitude];
}

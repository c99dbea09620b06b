/**
 * Values nested deeper are refused: JSON.parse has no limit, but JSON.stringify, the packing of messages between threads
 * and other recursions do, and a stack overflow is no answer.
 */
export const DEPTH_MAX = 200;

/** Whether a value from JSON is nested more than that many levels deep. */
export function isDeeper(value: unknown, levels = DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const element of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(element, levels - 1)) return true;
  }
  return false;
}

/**
 * Deterministic UUID of a string, so that repeating an import updates its entities instead of duplicating them. Browsers
 * offer digests over HTTPS only; this hash need not be secure.
 */
export function stableId(text: string): string {
  const words = [0, 1, 2, 3].map((seed) => hash(text, seed));
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** FNV-1a hash with a seed per word and a final mix. */
function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ Math.imul(seed + 1, 0x9e3779b1)) >>> 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

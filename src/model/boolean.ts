/** Parses a boolean in any letter case; 1 is true and 0 false. Returns undefined for any other string. */
export function booleanOf(text: string): boolean | undefined {
  switch (text.toLowerCase()) {
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      return undefined;
  }
}

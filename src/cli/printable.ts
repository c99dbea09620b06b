/** Returns a text without control characters, which could move the cursor of a terminal or forge further lines. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

import styles from './json.module.css';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
/** Beyond this, colors would only make the page slow. */
const COLORED_MAX = 60_000;

/** Readable JSON: one member per line, and the numbers of a position on one line. */
export function jsonText(value: unknown): string {
  // Line ends are between values only, never within a text.
  return JSON.stringify(value, undefined, 2).replace(
    /\[\n\s+(-?\d[^\n]*(?:\n\s+-?\d[^\n]*)*)\n\s+\]/g,
    (_, numbers: string) => {
      return `[${numbers.replace(/\n\s+/g, ' ')}]`;
    },
  );
}

/** JSON with different colors for names, strings and numbers. */
export function Json({ text }: { readonly text: string }) {
  if (text.length > COLORED_MAX) return <>{text}</>;
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, string, colon] = found;
    parts.push(text.slice(end, found.index));
    const kind = colon !== undefined ? 'name' : string !== undefined ? 'text' : 'value';
    parts.push(
      <span class={styles[kind]} key={found.index}>
        {kind === 'name' ? string : whole}
      </span>,
      colon ?? '',
    );
    end = found.index + whole.length;
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}

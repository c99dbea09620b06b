import styles from './json.module.css';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
/** Maximum length for syntax highlighting; longer text would slow the page down. */
const COLORED_MAX = 60_000;

/** Formats JSON with one member per line, and the numbers of a position on one line. */
export function jsonText(value: unknown): string {
  // JSON.stringify breaks lines only between values, never inside a string.
  return JSON.stringify(value, undefined, 2).replace(
    /\[\n\s+(-?\d[^\n]*(?:\n\s+-?\d[^\n]*)*)\n\s+\]/g,
    (_, numbers: string) => {
      return `[${numbers.replace(/\n\s+/g, ' ')}]`;
    },
  );
}

/** JSON with syntax highlighting. */
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

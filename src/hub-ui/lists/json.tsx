import './json.css';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
/** Beyond this, colours would only make the page slow. */
const COLOURED_MAX = 60_000;

/** JSON with its names, texts and numbers told apart. */
export function Json({ text }: { readonly text: string }) {
  if (text.length > COLOURED_MAX) return <>{text}</>;
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, string, colon] = found;
    parts.push(text.slice(end, found.index));
    const kind = colon !== undefined ? 'name' : string !== undefined ? 'text' : 'value';
    parts.push(
      <span class={`json-${kind}`} key={found.index}>
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

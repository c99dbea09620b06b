import { type Route, route } from '../route.ts';

/** The page that lists all endpoints, made once from their rows. */
export function docsRoute(routes: readonly Route[]): Route {
  const page = pageOf(routes);
  return route({
    method: 'GET',
    path: '/docs',
    summary: 'This page',
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'An HTML page.' } },
    handle: ({ reply }) => reply.page(page),
  });
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
  code { font: 0.9em ui-monospace, monospace; }
  table { border-collapse: collapse; width: 100%; }
  td, th { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
  .GET { color: #2a7d46; } .POST { color: #1f6fb2; } .PUT { color: #a8650b; } .DELETE { color: #b3362b; }
  @media (prefers-color-scheme: dark) {
    .GET { color: #6cc58a; } .POST { color: #77b7ea; } .PUT { color: #e0a85a; } .DELETE { color: #ee8b81; }
  }`;

function pageOf(routes: readonly Route[]): string {
  const rows = routes.map(rowOf).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Location hub: API</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Location hub</h1>
<p>All paths below <code>/hub/v2</code> or <code>/hub/v1</code>, also without <code>/hub</code>. Bodies are JSON.
Errors are <code>{"type", "code", "message"}</code>. The WebSocket is at <code>/hub/v2/ws/socket</code>.</p>
<table>
<thead><tr><th>Method</th><th>Path</th><th>What it does</th><th>Parameters</th><th>Answers</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</body>
</html>
`;
}

function rowOf({ method, path, summary, query, replies }: Route): string {
  const parameters = Object.keys(query.properties).map((name) => `<code>${escaped(name)}</code>`);
  return `<tr><td class="${method}"><code>${method}</code></td><td><code>${escaped(path)}</code></td>
<td>${escaped(summary)}</td><td>${parameters.join(' ')}</td><td>${Object.keys(replies).join(' ')}</td></tr>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

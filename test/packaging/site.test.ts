import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../documents/documents.ts';
import { openBrowser, WITHOUT_BROWSER } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

test('The documentation site is built, searched, and shows the API reference of each version', {
  skip: WITHOUT_BROWSER ?? false,
}, async (t) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'api-reference/0.0.9'), { recursive: true });
  writeFileSync(join(folder, 'api-reference/0.0.9/index.html'), 'earlier');
  const args = ['deploy/site/command.ts', '--out', folder];
  const printed = execFileSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  assert.equal(printed.trimEnd().split('\n').at(-1), folder);
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  assert.deepEqual(readdirSync(join(folder, 'api-reference')).toSorted(), ['0.0.9', version].toSorted());

  const missing: string[] = [];
  const server = createServer(({ url = '/' }, reply) => {
    const { pathname } = new URL(url, 'http://site.example');
    const path = join(folder, pathname.endsWith('/') ? `${pathname}index` : pathname);
    try {
      const file = extname(path) in TYPES ? path : `${path}.html`;
      reply.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream').end(readFileSync(file));
    } catch {
      missing.push(pathname);
      reply.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const page = await (await openBrowser()).newPage();
  t.after(() => page.close());
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));

  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole('link', { name: 'Ten minutes to a geofence' }).click();
  await page.getByRole('heading', { name: 'Create a fence' }).waitFor();
  await page.getByRole('button', { name: /Search/ }).click();
  await page.getByPlaceholder('Search').fill('exit_tolerance');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`http://127.0.0.1:${port}/api-reference/${version}/index.html`);
  // The page renders only the operations that are in view.
  await page.getByPlaceholder('Filter by tag or path').fill('Fences');
  await page.getByText('Create a fence', { exact: true }).waitFor();
  assert.deepEqual([missing, errors], [[], []]);
});

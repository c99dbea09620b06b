import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchHub } from '../../bench/process/hub.ts';

const DOCUMENTS = [
  'v2/openapi.json',
  'v2/openapi-3.0.json',
  'v2/asyncapi.json',
  'v1/openapi.json',
  'v1/openapi-3.0.json',
];
const PACKAGED = ['swagger-ui.css', 'swagger-ui-bundle.js'];
const OWN = ['rest.js', 'docs.css'];

/**
 * Writes the REST reference of this version into a folder: the documents of a running hub, and the page that the hub serves
 * at /docs.
 */
export async function writeApiReference(root: string, folder: string): Promise<void> {
  const page = join(folder, 'docs');
  await mkdir(page, { recursive: true });
  const hub = await BenchHub.start();
  try {
    for (const name of DOCUMENTS) {
      const reply = await fetch(`http://127.0.0.1:${hub.port}/${name}`);
      if (!reply.ok) throw new Error(`the hub answers ${reply.status} for ${name}`);
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), await reply.text());
    }
  } finally {
    await hub.stop();
  }
  const source = join(root, 'src/api/docs/pages');
  for (const name of OWN) await cp(join(source, name), join(page, name));
  for (const name of PACKAGED)
    await cp(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), join(page, name));
  const html = await readFile(join(source, 'rest.html'), 'utf8');
  const socket = '../v2/asyncapi.json';
  await writeFile(
    join(folder, 'index.html'),
    html
      .replaceAll('"{base}/socket"', `"${socket.slice(1)}"`)
      .replaceAll('{base}/', './docs/')
      .replaceAll('{base}', '.'),
  );
}

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** File of the service worker. Its URL has no hash, because it must not change. */
const WORKER = 'sw.js';

/** Returns whether a file belongs to the shell, which loads without a hub: see shell/service_worker.ts. */
function isOfShell(name: string): boolean {
  return name.startsWith('assets/') && !/countries-50m|\.map$/.test(name);
}

/**
 * Inserts the build constants into the service worker, and compresses every file of the page at build time instead of in the
 * hub.
 */
function finished(): Plugin {
  return {
    name: 'finished',
    apply: 'build',
    // Other plugins change files until the bundle is written.
    writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle);
      const read = (name: string): Buffer => readFileSync(join(dir, name));
      const hash = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
      const files = names.filter(isOfShell).sort();
      const page = hash(read('index.html'));
      const version = hash([page, ...files].join(' ')).slice(0, 16);
      const worker = read(WORKER).toString();
      writeFileSync(join(dir, WORKER), `const SHELL=${JSON.stringify({ version, files, page })};\n${worker}`);
      for (const name of names.filter((name) => /\.(js|css|html|svg|json)$/.test(name))) {
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(read(name), { params }));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(read(name), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/hub-ui/',
  // The hub adds a prefix to the URLs in the page. All other files use relative URLs.
  experimental: { renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  plugins: [finished()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias: { 'react/jsx-runtime': 'preact/jsx-runtime', react: 'preact/compat' } },
  worker: { format: 'es' },
  build: {
    // src/build_ui.mjs builds into a temporary folder and renames it.
    outDir: process.env['HUB_UI_OUT'] ?? '../../.hub-ui',
    emptyOutDir: true,
    target: 'es2022',
    // All of these browsers support light-dark(), on which the themes depend.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        index: join(import.meta.dirname, 'index.html'),
        worker: join(import.meta.dirname, 'shell/service_worker.ts'),
      },
      output: {
        entryFileNames: ({ name }) => (name === 'worker' ? WORKER : 'assets/[name]-[hash].js'),
        codeSplitting: {
          groups: [
            // A single file that loads first, because it defines the order of the cascade layers.
            { name: 'styles', test: /src\/hub-ui\/(styles|controls|json)\/[^/]*\.css$/ },
            // The editors share nearly all of their styles.
            { name: 'setup', test: /src\/hub-ui\/setup\/.*\.css$/ },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 1000,
  },
  // `npm run dev:ui` serves the page next to a running hub.
  server: {
    host: '127.0.0.1',
    proxy: {
      '/hub/': { target: 'http://127.0.0.1:8081', ws: true },
      '/hub-ui/settings.json': 'http://127.0.0.1:8081',
      '/hub-ui/permitted.json': 'http://127.0.0.1:8081',
    },
  },
});

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** The service worker's file: its address has to stay, so there is no hash in it. */
const WORKER = 'sw.js';

/** Files that the page needs to load without a hub: see shell/service_worker.ts. */
function isOfShell(name: string): boolean {
  return name.startsWith('assets/') && !/countries-50m|\.map$/.test(name);
}

/**
 * Tells the service worker what its build has made, and packs every file of the page once, when it is built, so that the
 * hub never has to.
 */
function finished(): Plugin {
  return {
    name: 'finished',
    apply: 'build',
    // Not earlier: other plugins still change the files of a bundle that is about to be written.
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
  // The hub puts a prefix before the addresses in the page. All other files find each other from where they are.
  experimental: { renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  plugins: [finished()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias: { 'react/jsx-runtime': 'preact/jsx-runtime', react: 'preact/compat' } },
  worker: { format: 'es' },
  build: {
    // src/build_ui.mjs builds into a temporary folder, and renames it.
    outDir: process.env['HUB_UI_OUT'] ?? '../../.hub-ui',
    emptyOutDir: true,
    target: 'es2022',
    // All of these browsers support light-dark(), which distinguishes the themes.
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
            // One file that comes before all others: it says in which order the layers of style sheets count.
            { name: 'styles', test: /src\/hub-ui\/(styles|controls|json)\/[^/]*\.css$/ },
            // All editors need nearly the same styles.
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

import type { SitePages } from './pages.ts';

interface SiteOptions extends Pick<SitePages, 'sidebar'> {
  /** Path of the site on its server, with slashes at both ends. */
  readonly base: string;
  /** Folder of the pages. */
  readonly source: string;
  /** Folder of the built site. */
  readonly out: string;
  readonly version: string;
}

/** Returns the configuration of VitePress as a module. */
export function siteConfig({ base, source, out, version, sidebar }: SiteOptions): string {
  const config = {
    title: 'Location hub',
    description: 'A hub for real-time locating systems, compatible with the omlox hub API',
    ...{ base, srcDir: source, outDir: out, cleanUrls: true },
    head: [['link', { rel: 'icon', href: 'data:,' }]],
    // The documents contain no HTML: text such as <id> is shown as it is.
    markdown: { html: false, languageAlias: { conf: 'ini', haproxy: 'ini' } },
    // The bundle of the search index is large.
    vite: { build: { chunkSizeWarningLimit: 4000 } },
    themeConfig: {
      search: { provider: 'local' },
      outline: [2, 3],
      nav: [
        { text: 'Start', link: '/overview' },
        { text: 'Tutorials', link: '/tutorials/geofence' },
        { text: 'API', link: '/api' },
        { text: `API reference ${version}`, link: `/api-reference/${version}/index.html`, target: '_self' },
        { text: 'Changes', link: '/changelog' },
      ],
      sidebar,
    },
  };
  return `export default ${JSON.stringify(config, undefined, 2)};\n`;
}

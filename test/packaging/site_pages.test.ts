import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { pageOf, sitePages, withSiteLinks } from '../../deploy/site/pages.ts';
import { ROOT } from '../documents/documents.ts';

test('A document is the page of its path without docs/', () => {
  for (const [path, page] of [
    ['README.md', 'overview.md'],
    ['docs/api.md', 'api.md'],
    ['docs/decisions/README.md', 'decisions/index.md'],
    ['deploy/README.md', 'deploy/index.md'],
    ['SECURITY.md', 'security.md'],
  ] as const) {
    assert.equal(pageOf(path), page);
  }
});

test('Links lead to pages of the site, and code stays as it is', () => {
  const text =
    '<!-- hidden -->\n[`x`](b.md#y) ![p](p.svg) [out](https://a.example) [here](#z) [folder](../f) `[no](b.md)`\n';
  const targets: string[] = [];
  const written = withSiteLinks('docs/a.md', text, (target) => {
    targets.push(target);
    return target === 'f' ? undefined : `/${target}`;
  });
  assert.deepEqual(targets, ['docs/b.md', 'docs/p.svg', 'f']);
  assert.equal(
    written,
    '[`x`](/docs/b.md#y) ![p](/docs/p.svg) [out](https://a.example) [here](#z) folder `[no](b.md)`\n',
  );
});

test('The site has every document of docs/ with its tutorials, and the files to which they link', () => {
  const { pages, files, sidebar } = sitePages(ROOT);
  for (const page of ['overview.md', 'api.md', 'tutorials/geofence.md', 'decisions/index.md', 'sdk/python/index.md']) {
    assert.ok(pages.has(page), page);
  }
  for (const file of files.values()) assert.ok(existsSync(ROOT + file), file);
  assert.equal(files.get('files/hub_config.yaml.txt'), 'hub_config.yaml');
  assert.deepEqual(
    sidebar.map(({ text }) => text),
    ['Tutorials', 'Users', 'Operators', 'Contributors'],
  );
  for (const { link } of sidebar.flatMap(({ items }) => items)) {
    assert.ok(pages.has(`${link.slice(1)}.md`) || pages.has(`${link.slice(1)}index.md`), link);
  }
});

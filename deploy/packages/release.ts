/** The changes of files that make a release. Pure: they map texts to texts. */

/** Files of the repository by path. */
export type Files = Readonly<Record<string, string>>;

const [MANIFEST, LOCK, CHANGELOG] = ['package.json', 'package-lock.json', 'CHANGELOG.md'] as const;
/** Files that name the version of the hub anywhere. */
const NAMING = [
  'deploy/helm/Chart.yaml',
  'deploy/helm/examples/cluster.yaml',
  'deploy/kubernetes/hub.yaml',
  'docs/installing.md',
  'sdk/python/pyproject.toml',
  'sdk/typescript/package.json',
];

/** Files that a release changes. */
export const RELEASED_FILES: readonly string[] = [MANIFEST, LOCK, CHANGELOG, ...NAMING];

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const RELEASES = /^## \[(\d+\.\d+\.\d+)\] - /gm;
const UNRELEASED = '## [Unreleased]\n';

/**
 * Returns the files of a release with this version and date (`YYYY-MM-DD`). Changes that were unreleased belong to the
 * release. Throws an Error if the version is not later than the last release, if a file lacks the current version, or if
 * there are no unreleased changes.
 */
export function releasedFiles(files: Files, version: string, date: string): Files {
  if (!VERSION.test(version)) throw new Error(`the version must be three numbers such as 1.0.0, found "${version}"`);
  const { version: current } = JSON.parse(textOf(files, MANIFEST)) as { readonly version: string };
  const changelog = textOf(files, CHANGELOG);
  const [last] = [...changelog.matchAll(RELEASES)].map(([, released = '']) => released);
  if (last !== undefined && compareVersions(version, last) <= 0) {
    throw new Error(`the version must be later than the last release, ${last}, found "${version}"`);
  }
  const named = NAMING.map((path) => [path, replaced(textOf(files, path), nameOf(current), version, path)]);
  // The project itself is the first package of the lock, and its name is above the version.
  const member = new RegExp(`("name": "omlox-location-hub",\\n +"version": )"${current.replaceAll('.', '\\.')}"`, 'g');
  return {
    [MANIFEST]: replaced(textOf(files, MANIFEST), member, `$1"${version}"`, MANIFEST),
    [LOCK]: replaced(textOf(files, LOCK), member, `$1"${version}"`, LOCK),
    [CHANGELOG]: releasedChangelog(changelog, version, date),
    ...Object.fromEntries(named),
  };
}

function releasedChangelog(text: string, version: string, date: string): string {
  const [before, after] = text.split(UNRELEASED);
  if (before === undefined || after === undefined) throw new Error(`${CHANGELOG}: there is no "${UNRELEASED.trim()}"`);
  const changes = after.replace(/^\nNothing has been released yet\..*\n/, '');
  if (!/^\n### /.test(changes)) throw new Error(`${CHANGELOG}: there are no unreleased changes`);
  return `${before}${UNRELEASED}${headingOf(version)}${date}\n${changes}`;
}

/** Whether the version is the current one, and a release. */
export function isReleased(files: Files, version: string): boolean {
  const { version: current } = JSON.parse(textOf(files, MANIFEST)) as { readonly version: string };
  return current === version && textOf(files, CHANGELOG).includes(headingOf(version));
}

/** Returns the notes of a release: its section of the changelog without the heading. */
export function releaseNotes(files: Files, version: string): string {
  const [, after = ''] = textOf(files, CHANGELOG).split(headingOf(version));
  const [section = ''] = after.split(/^## /m);
  return `${section.replace(/^.*\n/, '').trim()}\n`;
}

function headingOf(version: string): string {
  return `\n## [${version}] - `;
}

function replaced(text: string, pattern: RegExp, by: string, path: string): string {
  const result = text.replace(pattern, by);
  if (result === text) throw new Error(`${path}: does not name the current version`);
  return result;
}

/** The version as a whole, not as a part of an address such as 10.1.0.0. */
function nameOf(version: string): RegExp {
  return new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?!\\.?\\d)`, 'g');
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const [index, number] of left?.entries() ?? []) {
    const difference = number - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function textOf(files: Files, path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error(`${path}: is missing`);
  return text;
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAVEN_MS = 300_000;
const CACHE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'node_modules', '.cache');

/** A library in Maven Central. */
export interface Library {
  readonly groupId: string;
  readonly artifactId: string;
  readonly version: string;
}

/** Folder of the jars, or the reason why they are unavailable. */
export type Libraries = { readonly folder: string } | { readonly missing: string };

/** Installed major version of Java; 0 without Java. */
export function javaVersion(): number {
  const [, major = '0'] =
    /version "(\d+)/.exec(spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr ?? '') ?? [];
  return Number(major);
}

/**
 * Finds the jars of a library and its dependencies. Maven downloads them the first time, which takes about 15 seconds.
 */
export function mavenLibraries(library: Library): Libraries {
  const { artifactId, version } = library;
  const folder = join(CACHE, `${artifactId}-${version}`);
  if (existsSync(folder)) return { folder };
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(join(CACHE, `${artifactId}-`));
  try {
    return fetchInto(made, library) ?? takePlace(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function fetchInto(folder: string, { groupId, artifactId, version }: Library): { missing: string } | undefined {
  const project = join(folder, 'pom.xml');
  writeFileSync(
    project,
    `\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hub</groupId><artifactId>libraries</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`,
  );
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  const options = ['-B', '-q', '-ntp', '-f', project, '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  const maven = spawnSync('mvn', [...options, goal], { encoding: 'utf8', timeout: MAVEN_MS });
  if (maven.error !== undefined) {
    const { code } = maven.error as NodeJS.ErrnoException;
    return { missing: code === 'ENOENT' ? 'Maven is not installed' : `Maven has failed: ${maven.error.message}` };
  }
  if (maven.status === 0) return undefined;
  const [line = `it ended with code ${maven.status}`] = /\[ERROR\].*/.exec(maven.stdout + maven.stderr) ?? [];
  return { missing: `Maven could not fetch ${artifactId}: ${line.slice(0, 200)}` };
}

/** The folder is renamed when it is complete, because another test may be downloading the same library. */
function takePlace(made: string, folder: string): Libraries {
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  return { folder };
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '5.0.8';
const MAVEN_MS = 300_000;
const CACHE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'node_modules', '.cache');
const PROJECT = `\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hub</groupId><artifactId>cassandra</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Where Cassandra's jars are, or why there are none here. */
export type Libraries = { readonly folder: string } | { readonly missing: string };

/** Finds Cassandra's jars; the first time Maven fetches them, which takes a quarter of a minute. */
export function cassandraLibraries(): Libraries {
  const folder = join(CACHE, `cassandra-${VERSION}`);
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (java.error !== undefined) return { missing: 'Java is not installed' };
  const [, major = '0'] = /version "(\d+)/.exec(java.stderr) ?? [];
  if (Number(major) < 11 || Number(major) > 17) return { missing: `Cassandra needs Java 11 to 17, found ${major}` };
  if (existsSync(folder)) return { folder };
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(join(CACHE, 'cassandra-'));
  try {
    return fetchInto(made) ?? takePlace(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function fetchInto(folder: string): { missing: string } | undefined {
  const project = join(folder, 'pom.xml');
  writeFileSync(project, PROJECT);
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  const options = ['-B', '-q', '-ntp', '-f', project, '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
  const maven = spawnSync('mvn', [...options, goal], { encoding: 'utf8', timeout: MAVEN_MS });
  if (maven.error !== undefined) {
    const { code } = maven.error as NodeJS.ErrnoException;
    return { missing: code === 'ENOENT' ? 'Maven is not installed' : `Maven has failed: ${maven.error.message}` };
  }
  if (maven.status === 0) return undefined;
  const [line = `it ended with code ${maven.status}`] = /\[ERROR\].*/.exec(maven.stdout + maven.stderr) ?? [];
  return { missing: `Maven could not fetch Cassandra: ${line.slice(0, 200)}` };
}

/** All or nothing, since another test may be doing the same. */
function takePlace(made: string, folder: string): Libraries {
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  return { folder };
}

import { javaVersion, type Libraries, mavenLibraries } from '../support/maven_libraries.ts';

const CASSANDRA = { groupId: 'org.apache.cassandra', artifactId: 'cassandra-all', version: '5.0.8' };

/** Finds Cassandra's jars. */
export function cassandraLibraries(): Libraries {
  const major = javaVersion();
  if (major === 0) return { missing: 'Java is not installed' };
  if (major < 11 || major > 17) return { missing: `Cassandra needs Java 11 to 17, found ${major}` };
  return mavenLibraries(CASSANDRA);
}

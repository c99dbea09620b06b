import { writeFileSync } from 'node:fs';
import { HEAD, nativeFiles, RECORD, sha256 } from './binaries.ts';

// Rewrites the record. Run it after a change of a version, and after a review of the origin of the new binaries.
const lines = nativeFiles().map((path) => `${sha256(path)}  ${path}\n`);
writeFileSync(RECORD, [`${HEAD}\n`, ...lines].join(''));
console.log(`${lines.length} files are recorded in test/provenance/binaries.sha256`);

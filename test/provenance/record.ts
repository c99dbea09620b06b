import { writeFileSync } from 'node:fs';
import { HEAD, nativeFiles, RECORD, sha256 } from './binaries.ts';

// Writes the record anew. For whoever has changed a version, and has looked at where the new binaries come from.
const lines = nativeFiles().map((path) => `${sha256(path)}  ${path}\n`);
writeFileSync(RECORD, [`${HEAD}\n`, ...lines].join(''));
console.log(`${lines.length} files are recorded in test/provenance/binaries.sha256`);

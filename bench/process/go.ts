import { spawnSync } from 'node:child_process';

/** Folder of a Go that was unpacked, not installed as a package. */
export const USUAL_GO = '/usr/local/go/bin/go';

/** The command of Go, or undefined. */
export const GO = ['go', USUAL_GO].find((command) => spawnSync(command, ['version']).status === 0);

import { spawnSync } from 'node:child_process';

/** Folder of an unpacked Go that is not installed as a package. */
export const USUAL_GO = '/usr/local/go/bin/go';

/** Path of the go command, or undefined. */
export const GO = ['go', USUAL_GO].find((command) => spawnSync(command, ['version']).status === 0);

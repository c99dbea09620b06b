#!/usr/bin/env node
/**
 * The command `location-hub` of the npm package:
 *
 *     location-hub [start] [--setting=value …]     starts a hub
 *     location-hub tail|replay|demo|sinks|…        runs a command-line tool of the hub
 *
 * Plain JavaScript, because Node strips no types below node_modules.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { HUB_ENV, HUB_NODE_ARGS, isSuitable, NODE_VERSIONS } from '../../src/launch.mjs';

const START = 'start';
const MAIN = fileURLToPath(new URL('../../.hub/main.js', import.meta.url));
const TOOLS = new URL('../../.hub/cli.js', import.meta.url);

if (!isSuitable(process.versions.node)) {
  console.error(
    `Cannot start: the hub needs ${NODE_VERSIONS}, found ${process.versions.node}. npx can install it: npx -p node@22 -p location-hub location-hub`,
  );
  process.exit(1);
}
const [command = START, ...rest] = process.argv.slice(2);
if (command === START) start(rest);
else if (command.startsWith('-')) start([command, ...rest]);
else await import(TOOLS.href);

/** Starts a hub with the options of Node that it needs, and forwards signals to it. */
function start(args) {
  const hub = spawn(process.execPath, [...HUB_NODE_ARGS, MAIN, ...args], {
    stdio: 'inherit',
    env: { ...HUB_ENV, ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal also sends Ctrl-C to the hub. A second signal would mean "immediately".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) hub.kill(signal);
    });
  }
  hub.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

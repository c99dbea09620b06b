import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { runCli, startCliWith, temporaryFile } from './run_cli.ts';

const UNUSED_ORIGIN = await addressOfNobody();

/** A port that was free a moment ago. */
async function addressOfNobody(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

const helps: [args: string[], expected: RegExp[]][] = [
  [
    ['--help'],
    [/^Usage: hub /, /demo /, /replay /, /tail /, /rpc /, /backup /, /restore /, /check /, /migrate /, /import /],
  ],
  [
    ['backup', '--help'],
    [/<file>/, /--overwrite/, /may be running/],
  ],
  [['migrate', '--help'], [/--dry-run/]],
  [
    ['import', '--help'],
    [/<file>/, /--replace/, /must be\s+stopped/],
  ],
  [
    ['demo', '--help'],
    [/--seed/, /--seconds/, /--mqtt \[address\]/, /--hub <url>.*\n?.*http:\/\/127\.0\.0\.1:8081/],
  ],
  [
    ['replay', '--help'],
    [/--locations/, /--trackables/, /--fences/, /--speed/, /--interpolate/, /--hub/],
  ],
  [
    ['rpc', '--help'],
    [/list /, /call .*<method>/],
  ],
  [
    ['rpc', 'call', '--help'],
    [/--params <json>/, /--handler <id>/, /--timeout <ms>/, /_return_first_success/, /--hub/],
  ],
  [
    ['tail', '--help'],
    [/<?topic>?/, /--param/, /trackable_motions/, /--hub/],
  ],
];

for (const [args, expected] of helps) {
  test(`${args.join(' ')} prints its usage`, async () => {
    const { code, out, err } = await runCli(...args);
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    for (const pattern of expected) assert.match(out, pattern);
  });
}

for (const [what, settings, expected] of [
  ['the port', { HUB_PORT: '9000' }, 'http://127.0.0.1:9000'],
  ['every interface', { HUB_PORT: '9000', HUB_HOST: '::' }, 'http://127.0.0.1:9000'],
  ['an address of IPv6', { HUB_PORT: '9000', HUB_HOST: '::1' }, 'http://[::1]:9000'],
  ['HTTPS alone', { HUB_PORT: '9443', HUB_FORCE_HTTPS: 'true' }, 'https://127.0.0.1:9443'],
  ['an unknown free port', { HUB_PORT: '0' }, 'http://127.0.0.1:8081'],
  ['an invalid port', { HUB_PORT: 'none' }, 'http://127.0.0.1:8081'],
] as const) {
  test(`commands use the hub at ${expected} if the settings name ${what}`, async () => {
    const { code, out, err } = await startCliWith(settings, 'tail', '--help').finished;
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    assert.ok(out.includes(`(default: "${expected}")`), out);
  });
}

const mistakes: [name: string, args: string[], expected: RegExp][] = [
  ['an unknown command', ['dmo'], /^error: unknown command 'dmo'\n\(Did you mean demo\?\)\n$/],
  ['an unknown option', ['demo', '--sed', '1'], /^error: unknown option '--sed'\n\(Did you mean --seed\?\)\n$/],
  [
    'a seed that is no number',
    ['demo', '--seed', 'x'],
    /^error: option '--seed <number>' argument 'x' is invalid\. It must be a whole number of 0 or more and of 1000000 or less\.\n$/,
  ],
  [
    'an invalid address',
    ['tail', 'fence_events', '--hub', 'localhost'],
    /^error: option '--hub <url>' argument 'localhost' is invalid\. It must begin with http/,
  ],
  ['a replay without locations', ['replay'], /^error: required option '--locations <file>' not specified\n$/],
  [
    'an invalid speed',
    ['replay', '--locations', 'x', '--speed', '-1'],
    /^error: option '--speed <factor>' argument '-1' is invalid\./,
  ],
  ['a tail without topic', ['tail'], /^error: missing required argument 'topic'\n$/],
  [
    'a parameter without value',
    ['tail', 'fence_events', '--param', 'x'],
    /^error: option '--param <key=value>' argument 'x' is invalid\./,
  ],
  ['a missing file', ['replay', '--locations', '/none.ndjson'], /^Cannot read \/none\.ndjson: ENOENT[^\n]*\n$/],
];

for (const [name, args, expected] of mistakes) {
  test(`the commands name ${name} and exit with 1`, async () => {
    const { code, out, err } = await runCli(...args);
    assert.match(err, expected);
    assert.deepEqual({ code, out }, { code: 1, out: '' });
  });
}

const files: [name: string, option: string, text: string, expected: RegExp][] = [
  ['a line that is no JSON', '--locations', '{"a":1}\n\n{"a"\n', /^\S*file:3: is not JSON: [^\n]+\n$/],
  ['a line that is no object', '--locations', '{}\n[1]\n', /^\S*file:2: must be one JSON object, found \[1\]\n$/],
  ['a recording of nothing', '--locations', '\n', /^Cannot replay \S*file: it contains no locations\n$/],
  ['fences that are no JSON', '--fences', '[', /^Cannot read \S*file: [^\n]*JSON[^\n]*\n$/],
  ['fences that are no array', '--fences', '{}', /^Cannot read \S*file: it must be a JSON array\n$/],
];

for (const [name, option, text, expected] of files) {
  test(`replay names ${name} and sends nothing`, async () => {
    const path = temporaryFile('file', text);
    const locations = option === '--locations' ? [] : ['--locations', temporaryFile('fine', '{}\n')];
    const { code, out, err } = await runCli('replay', option, path, ...locations, '--hub', UNUSED_ORIGIN);
    assert.match(err, expected);
    assert.deepEqual({ code, out }, { code: 1, out: '' });
  });
}

test('replay names the line that it cannot interpolate', async () => {
  const path = temporaryFile('file', '{"provider_id":"a"}\n');
  const { code, err } = await runCli('replay', '--locations', path, '--interpolate', '10');
  assert.match(err, /^\S*file:1: timestamp_generated: is needed to interpolate\n$/);
  assert.equal(code, 1);
});

for (const command of ['demo', 'tail', 'replay']) {
  test(`${command} reports in one line that there is no hub`, async () => {
    const args = { demo: [], tail: ['fence_events'], replay: ['--locations', temporaryFile('file', '{}\n')] };
    const { code, out, err } = await runCli(command, ...args[command as keyof typeof args], '--hub', UNUSED_ORIGIN);
    assert.equal(err, `Cannot reach the hub at ${UNUSED_ORIGIN}: is it running? Start it with npm start\n`);
    assert.deepEqual({ code, out }, { code: 1, out: '' });
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/collect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Config, KEYS, settingOf } from '../../src/config/schema.ts';
import { usageText } from '../../src/config/text.ts';

function loadWith(args: readonly string[], env: Record<string, string> = {}, file = ''): Config {
  return loadConfig({ args, env, cwd: '/home/hub', cores: 1, readFile: () => file });
}

function problemsWith(args: readonly string[], env: Record<string, string> = {}): readonly string[] {
  try {
    loadWith(args, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const ACCEPTED: readonly [args: readonly string[], expected: Partial<Config>][] = [
  [['--port', '9000'], { port: 9000 }],
  [['--port=9000', '--num-threads', '3'], { port: 9000, num_threads: 3 }],
  [['--num_threads=3'], { num_threads: 3 }],
  [['--accept-loss'], { accept_loss: true }],
  [['--accept-loss', '--port', '9000'], { accept_loss: true, port: 9000 }],
  [['--cors', 'false', '--port', '9000'], { cors: false, port: 9000 }],
  [['--allowed-hosts', '[hub.lan, .site.example]'], { allowed_hosts: ['hub.lan', '.site.example'] }],
  [['--cassandra-port=1'], { widecolumn_port: 1 }],
];

for (const [args, expected] of ACCEPTED) {
  test(`loadConfig accepts the arguments ${args.join(' ')}`, () => {
    const config = loadWith(args);
    assert.deepEqual({ ...config, ...expected }, config);
  });
}

test('loadConfig prefers arguments to the environment, and that to the file', () => {
  const { port, lane_capacity, max_connections } = loadWith(
    ['--port', '1'],
    { HUB_PORT: '2', HUB_LANE_CAPACITY: '2' },
    'port: 3\nlane_capacity: 3\nmax_connections: 3',
  );
  assert.deepEqual([port, lane_capacity, max_connections], [1, 2, 3]);
});

const SEE = 'is no setting of the hub, see npm start -- --help';

const REFUSED: readonly [args: readonly string[], expected: readonly string[]][] = [
  [['--prot', '27002'], [`arguments: --prot: ${SEE}; did you mean "--port"?`]],
  [['--num-thread=3'], [`arguments: --num-thread=3: ${SEE}; did you mean "--num-threads"?`]],
  [['27002'], [`arguments: 27002: ${SEE}`]],
  [
    ['-p', '27002'],
    [`arguments: -p: ${SEE}`, `arguments: 27002: ${SEE}`],
  ],
  [['--port'], ['arguments: --port: needs a value, found none']],
  [['--port', '--cors'], ['arguments: --port: needs a value, found none']],
  [['--port', 'x'], ['arguments: --port: must be an integer, found "x"']],
  [['--port', '1', '--port=2'], ['arguments: --port: is given twice']],
  [
    ['--mqtt-password', 'p'],
    [
      'arguments: --mqtt-password: is a secret, which other users of this machine could read; set HUB_MQTT_PASSWORD instead',
    ],
  ],
];

for (const [args, expected] of REFUSED) {
  test(`loadConfig rejects the arguments ${args.join(' ')}`, () => assert.deepEqual(problemsWith(args), expected));
}

/** Variables that npm 11 sets for commands such as `npm start --port 9000`, and the correct command. */
const TAKEN: readonly [env: Record<string, string>, args: readonly string[], typed: string][] = [
  [{ npm_config_port: 'true' }, ['9000'], 'npm start -- --port 9000'],
  [{ npm_config_port: '9000' }, [], 'npm start -- --port 9000'],
  [{ npm_config_num_threads: 'true' }, ['3'], 'npm start -- --num-threads 3'],
  [{ npm_config_cors: '' }, [], 'npm start -- --cors false'],
];

for (const [env, args, typed] of TAKEN) {
  test(`loadConfig suggests the correct command if npm has consumed ${JSON.stringify(env)}`, () => {
    const [name = ''] = Object.keys(env).map((key) => key.slice('npm_config_'.length).replaceAll('_', '-'));
    const expected = [`npm has taken --${name} for itself. Type: ${typed}`];
    assert.deepEqual(problemsWith(args, { ...env, npm_lifecycle_event: 'start' }), expected);
  });
}

test('An option that the script received is used, whatever npm is configured to', () => {
  const env = { npm_lifecycle_event: 'start', npm_config_num_threads: 'true' };
  for (const args of [['--num-threads', '3'], ['--num-threads=3'], ['--num_threads', '3']])
    assert.deepEqual(problemsWith(args, env), []);
});

test('The usage lists every setting with its help, and ends with a line feed', () => {
  const usage = usageText();
  for (const key of KEYS) {
    const { description, secret } = settingOf(key);
    const name = secret === true ? `HUB_${key.toUpperCase()}` : `--${key.replaceAll('_', '-')}`;
    assert.match(usage, new RegExp(`^  ${name}\\b.*\\n      `, 'm'));
    assert.ok(usage.includes(`      ${description}\n`), key);
  }
  assert.ok(usage.endsWith('\n'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPermissions } from '../../src/config/permissions_file.ts';
import { StartupError } from '../../src/errors.ts';

function problemsOf(text: string): string {
  try {
    readPermissions(text, 'permissions.yaml');
    return '';
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error));
    return error.message;
  }
}

test('readPermissions reads roles, their paths, and their scopes', () => {
  const text = `
ops-admin:
  description: everything
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
tag-owner:
  '/v2/providers/:provider_id/*': [READ_OWN, UPDATE_OWN, READ_OWN]
  '/v2/fences':
    - READ_OWN
guest:
  /health: [READ_ANY]
  /version: []
`;
  const read = readPermissions(text, 'permissions.yaml').map(({ role, rules }) => {
    return [role, rules.map(({ path, location: place, reach }) => [path, place, Object.fromEntries(reach)])];
  });
  assert.deepEqual(read, [
    ['ops-admin', [['/v2/*', 'permissions.yaml:4', { CREATE: 'ANY', READ: 'ANY', UPDATE: 'ANY', DELETE: 'ANY' }]]],
    [
      'tag-owner',
      [
        ['/v2/providers/:provider_id/*', 'permissions.yaml:6', { READ: 'OWN', UPDATE: 'OWN' }],
        ['/v2/fences', 'permissions.yaml:7', { READ: 'OWN' }],
      ],
    ],
    [
      'guest',
      [
        ['/health', 'permissions.yaml:10', { READ: 'ANY' }],
        ['/version', 'permissions.yaml:11', {}],
      ],
    ],
  ]);
});

const WRONG: readonly [text: string, problem: string][] = [
  [
    "a:\n  '/v2/x': [READ_ANY, READ_OWN]",
    'permissions.yaml:2: role "a": has READ_ANY at permissions.yaml:2 and READ_OWN: a role has ANY or OWN throughout, so write one of them into another role',
  ],
  [
    "a:\n  '/x': [UPDATE_OWN,\n    UPDATE_ANY]",
    'permissions.yaml:3: role "a": has UPDATE_OWN at permissions.yaml:2 and UPDATE_ANY: a role has ANY or OWN throughout, so write one of them into another role',
  ],
  [
    "a:\n  '/v2/x': [READ_ANY]\n  '/v2/y': [UPDATE_OWN, READ_OWN]\n  '/v2/z': [DELETE_OWN]",
    'permissions.yaml:3: role "a": has READ_ANY at permissions.yaml:2 and UPDATE_OWN: a role has ANY or OWN throughout, so write one of them into another role',
  ],
  ...['/v2/x/', '//v2/x', '/v2//x', '/hub/v2/x', '/deephub/v2/x/'].map((path): [string, string] => [
    `a:\n  '/v2/x': [READ_ANY]\n  '${path}': [UPDATE_ANY]`,
    `permissions.yaml:3: role "a": path "${path}": is there already, at permissions.yaml:2: write its permissions there`,
  ]),
  [
    "a:\n  '/x': [READ_ANY]\n  '/y': []\n  '/x': []",
    'permissions.yaml:4: role "a": path "/x": is there already, at permissions.yaml:2: write its permissions there',
  ],
  [
    "a:\n  '/x': [READ_ANY]\n  /x/: []",
    'permissions.yaml:3: role "a": path "/x/": is there already, at permissions.yaml:2: write its permissions there',
  ],
  [
    'a:\n  /x: []\na:\n  /y: []',
    'permissions.yaml:3: role "a": is there already, at permissions.yaml:1: write its paths there',
  ],
  [
    'a:\n  /x: [READ_ALL]',
    'permissions.yaml:2: role "a": path "/x": must be one of CREATE_ANY, CREATE_OWN, READ_ANY, READ_OWN, UPDATE_ANY, UPDATE_OWN, DELETE_ANY, DELETE_OWN, found "READ_ALL"; did you mean "READ_ANY"?',
  ],
  ['a:\n  /x: READ_ANY', 'permissions.yaml:2: role "a": path "/x": must be a list of permissions, found "READ_ANY"'],
  ['a:\n  /x:', 'permissions.yaml:2: role "a": path "/x": must be a list of permissions, found nothing'],
  ['a:\n  x: []', 'permissions.yaml:2: role "a": path "x": must begin with a slash, unless it is "description"'],
  ["a:\n  '/x/*/y': []", 'permissions.yaml:2: role "a": path "/x/*/y": may have an asterisk as its last segment only'],
  ["a:\n  '/x*': []", 'permissions.yaml:2: role "a": path "/x*": may have an asterisk as its last segment only'],
  ['a: [READ_ANY]', 'permissions.yaml:1: role "a": must be paths with their permissions, found a list'],
  ['a:', 'permissions.yaml:1: role "a": must be paths with their permissions, found nothing'],
  ['- a', 'permissions.yaml:1: must be roles with their paths, found a list'],
  ['', 'permissions.yaml: must be roles with their paths, found nothing'],
];

for (const [text, problem] of WRONG) {
  test(`readPermissions rejects ${JSON.stringify(text)}`, () => assert.equal(problemsOf(text), problem));
}

test('readPermissions reports every error and its position', () => {
  const problems = problemsOf("a:\n  x: []\nb:\n  '/y': [READ]\nc: 1").split('\n');
  assert.deepEqual(
    problems.map((problem) => problem.split(': ', 2).join(': ')),
    ['permissions.yaml:2: role "a"', 'permissions.yaml:4: role "b"', 'permissions.yaml:5: role "c"'],
  );
});

test('readPermissions names the line of invalid YAML', () => {
  assert.match(problemsOf("a:\n  '/x': [READ_ANY"), /^permissions\.yaml:\d: cannot be read as YAML: /);
});

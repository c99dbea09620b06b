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

test('readPermissions reads roles, their paths, and how far they reach', () => {
  const text = `
ops-admin:
  description: everything
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
tag-owner:
  '/v2/providers/:provider_id/*': [READ_OWN, UPDATE_OWN, READ_OWN]
  '/v2/fences':
    - READ_ANY
guest:
  /health: [READ_ANY]
  /version: []
`;
  const read = readPermissions(text, 'permissions.yaml').map(({ role, rules }) => {
    return [role, rules.map(({ path, place, reach }) => [path, place, Object.fromEntries(reach)])];
  });
  assert.deepEqual(read, [
    ['ops-admin', [['/v2/*', 'permissions.yaml:4', { CREATE: 'ANY', READ: 'ANY', UPDATE: 'ANY', DELETE: 'ANY' }]]],
    [
      'tag-owner',
      [
        ['/v2/providers/:provider_id/*', 'permissions.yaml:6', { READ: 'OWN', UPDATE: 'OWN' }],
        ['/v2/fences', 'permissions.yaml:7', { READ: 'ANY' }],
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
    'permissions.yaml:2: role "a": path "/v2/x": has both READ_ANY and READ_OWN: one of them has to go',
  ],
  [
    "a:\n  '/x': [UPDATE_OWN,\n    UPDATE_ANY]",
    'permissions.yaml:3: role "a": path "/x": has both UPDATE_ANY and UPDATE_OWN: one of them has to go',
  ],
  [
    "a:\n  '/x': [READ_ANY]\n  '/y': []\n  '/x': []",
    'permissions.yaml:4: role "a": path "/x": is there already, at permissions.yaml:2',
  ],
  [
    "a:\n  '/x': [READ_ANY]\n  /x/: []",
    'permissions.yaml:3: role "a": path "/x/": is there already, at permissions.yaml:2',
  ],
  ['a:\n  /x: []\na:\n  /y: []', 'permissions.yaml:3: role "a": is there already, at permissions.yaml:1'],
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
  test(`readPermissions refuses ${JSON.stringify(text)}`, () => assert.equal(problemsOf(text), problem));
}

test('readPermissions tells of everything that is wrong, and where', () => {
  const problems = problemsOf("a:\n  x: []\nb:\n  '/y': [READ]\nc: 1").split('\n');
  assert.deepEqual(
    problems.map((problem) => problem.split(': ', 2).join(': ')),
    ['permissions.yaml:2: role "a"', 'permissions.yaml:4: role "b"', 'permissions.yaml:5: role "c"'],
  );
});

test('readPermissions names the line of YAML that cannot be read', () => {
  assert.match(problemsOf("a:\n  '/x': [READ_ANY"), /^permissions\.yaml:\d: cannot be read as YAML: /);
});

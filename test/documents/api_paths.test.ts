import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { readDocuments } from './documents.ts';

/** A path of the API in a document: after a version, as in `/hub/v2/fences/{id}`, or after a method, as in `GET /health`. */
const PATH = /(?:(?<![\w}.-])(?:\/hub)?\/v[12]|\b(?:GET|PUT|POST|PATCH|DELETE) (?:\/v[12])?)(\/[\w{}:/.-]*[\w}])/g;
/** Paths of permissions that are not routes: topics of the WebSocket, and remote methods. */
const OTHERS = /^\/(ws|rpc)\//;

/** Whether a path of a document is that of a route, or the beginning of some. */
function isRoute(path: string): boolean {
  const parts = path.split('/').filter(Boolean);
  return ROUTES.some((route) => {
    const of = route.path.split('/').filter(Boolean);
    return parts.length <= of.length && parts.every((part, i) => of[i] === part || of[i]?.startsWith(':') === true);
  });
}

test('Every API path in a document exists', () => {
  const named = readDocuments()
    .filter(({ path }) => !path.startsWith('test/'))
    .flatMap(({ path, text }) => [...text.matchAll(PATH)].map(([, named = '']) => ({ path, named })));
  assert.ok(named.length > 50, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(({ named }) => !OTHERS.test(named) && !isRoute(named)).map(({ path, named }) => `${path}: ${named}`),
    [],
  );
});

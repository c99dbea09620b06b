import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Problem, problemOf } from '../../src/problem.ts';
import { type ErrorReason, REASONS } from '../../src/reasons.ts';
import { CATALOGS } from '../../src/hub-ui/languages/catalogs.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { ALERT_RULE, EXPORT, PLAIN_ZONE, POINT, REJECTED } from './rejected_requests.ts';
import { createSite } from './ui_site.ts';

interface Expected {
  /** Problems with their sentences. */
  readonly sentences: readonly (readonly [problem: Problem, sentence: string])[];
  /** Paths of the API with their labels. */
  readonly paths: readonly (readonly [path: string, label: string])[];
  /** Failures of a target: a refused connection, and no response within 15 s. */
  readonly failures: readonly [refused: string, slow: string];
}

/** Declares the tests of error messages in a language. Each needs a process of its own, since the language is a global. */
export async function testReasonsIn(language: keyof typeof CATALOGS, expected: Expected): Promise<void> {
  // Set the language before importing the modules below.
  Object.defineProperty(globalThis, 'localStorage', { value: { getItem: () => language }, configurable: true });
  const { failureText, loadMessages, pathLabel, sentenceOf } = await import('../../src/hub-ui/problems/sentences.ts');
  await loadMessages();
  const { name } = CATALOGS[language];
  const { reasonTexts } = await CATALOGS[language].reasons();

  test(`A failure in a state is shown in ${name}, without the English detail`, () => {
    const refused = problemOf('target_refused', {}, 'connect ECONNREFUSED 10.0.0.1:443');
    assert.equal(failureText('connect ECONNREFUSED 10.0.0.1:443', refused), expected.failures[0]);
    const slow = problemOf('target_too_slow', { timeout: 15_000 });
    assert.equal(failureText(String(slow), slow), expected.failures[1]);
    // A later version of the hub may have another reason.
    assert.equal(
      failureText('new failure', { reason: 'of_tomorrow' as ErrorReason['reason'], params: {} }),
      'new failure',
    );
    assert.equal(failureText(undefined, {}), undefined);
  });

  for (const [problem, sentence] of expected.sentences) {
    test(`The sentence of "${problem}" in ${name} is correct`, () => {
      assert.equal(sentenceOf(problem), sentence);
      // The English wording does not matter.
      assert.equal(sentenceOf({ ...problem, message: 'Reworded' }), sentence);
    });
  }

  test('An error with an unknown reason, and one without a reason, are reported with their message', () => {
    assert.equal(sentenceOf({ message: 'Cannot dance: the music is off' }), 'Cannot dance: the music is off.');
    const newer = { message: 'Cannot sing', reason: 'no_voice', params: {} } as unknown as ErrorReason;
    assert.equal(sentenceOf(newer), 'Cannot sing.');
  });

  test(`A text of a reason in ${name} uses only parameters of the reason`, () => {
    const placesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
    for (const [reason, text] of Object.entries(reasonTexts)) {
      const known = placesIn(REASONS[reason as keyof typeof REASONS]);
      for (const name of placesIn(text)) assert.ok(known.includes(name), `${reason}: ${name}`);
    }
  });

  for (const [path, label] of expected.paths) {
    test(`The label of ${path} in ${name} is correct`, () => assert.equal(pathLabel(path), label));
  }

  test(`Every error of the REST API has a documented reason, and is reported in ${name}`, async (t) => {
    const hub = await openTestHub();
    t.after(hub.close);
    await createSite(hub);
    const [taken, wrong]: [string[], string[]] = [[], []];
    const reasons = new Set<string>();
    for (const [method, path, body] of REJECTED) {
      const { status, body: reply } = await hub.request(method, path, body);
      const asked = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}`;
      if (status < 400) taken.push(asked);
      else if (!isDocumented(reply) || !isTranslated(reply))
        wrong.push(`${asked}: ${JSON.stringify(reply)} ${sentenceOf(reply)}`);
      reasons.add(String(reply?.reason));
    }
    assert.deepEqual(taken, []);
    assert.deepEqual(wrong, []);
    assert.ok(reasons.size > 70, `${reasons.size} different reasons`);
  });

  test(`Every problem found by an import has a documented reason, and is reported in ${name}`, async (t) => {
    const hub = await openTestHub();
    t.after(hub.close);
    await createSite(hub);
    const zone = { ...PLAIN_ZONE, id: 'zone' };
    const document = {
      ...EXPORT,
      zones: [zone, zone, { ...zone, id: 'other', foreign_id: 'hall' }],
      fences: [
        { id: 'fence', region: POINT },
        { id: 'local', region: POINT, radius: 1, crs: 'local', former_zone: zone },
      ],
      trackables: [{ id: 'cart', type: 'omlox' }],
      locating_rules: [{ expression: 'a', priority: 1 }],
      alert_rules: [{ ...ALERT_RULE, id: 'rule', more_than: 1 }],
      views: [{ id: 'view', name: 'Here', address: 'here' }],
    };
    const found = await problemsOf(hub, document);
    assert.ok(found.length >= 8, JSON.stringify(found));
    assert.deepEqual(
      found.filter((problem) => !isDocumented(problem) || !isTranslated(problem)),
      [],
    );
  });

  function isTranslated(error: ErrorReason & { readonly message: string }): boolean {
    const own = sentenceOf(error).replaceAll(/[„«].*?[“»]/g, '');
    return !/\b(the|must|is|found|cannot|given)\b/i.test(own);
  }
}

interface Found extends ErrorReason {
  readonly place: string;
  readonly message: string;
}

async function problemsOf(hub: TestHub, document: object): Promise<readonly Found[]> {
  await hub.post('/import?dry_run=true', document);
  for (;;) {
    const { body } = await hub.get('/import');
    if (body.ended_at !== undefined) return body.problems ?? [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Parameters by reason, as docs/errors.md lists them. */
const DOCUMENTED = new Map(
  [...readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, reason, message = '']) =>
      [reason, new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))] as const,
  ),
);

/** Whether the reason and its parameters are documented, and no parameter is English prose. */
export function isDocumented({ reason, params }: ErrorReason): boolean {
  const names = DOCUMENTED.get(reason);
  if (names === undefined || typeof params !== 'object') return false;
  const isKnown = Object.keys(params).every((name) => names.has(name) || ['path', 'found', 'outcome'].includes(name));
  const prose = Object.values(params).some((value) => /\b(the|must|is|are|cannot|of)\b/.test(String(value)));
  return isKnown && !prose;
}

import assert from 'node:assert/strict';

/** One sample of a metric. */
export interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]?Inf|[+-]?[\d.]+(?:e[+-]?\d+)?)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g;

/**
 * Parses the Prometheus text format strictly: every line is a sample, HELP or TYPE; the lines of a family follow its
 * HELP and TYPE; samples are unique; the text ends with a line break.
 */
export function parsePrometheus(text: string): readonly Line[] {
  assert.ok(text.endsWith('\n'));
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const seen = new Set<string>();
  const found: Line[] = [];
  let family = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, what, name = '', rest = ''] = comment;
      if (what === 'HELP') {
        assert.ok(!helps.has(name), `${name} is explained twice`);
        helps.add(name);
        family = name;
      } else {
        assert.equal(name, family);
        assert.match(rest, /^(counter|gauge)$/);
        types.set(name, rest);
      }
      continue;
    }
    const [, name = '', labelText = '', value = ''] = LINE.exec(line) ?? assert.fail(`no sample: ${line}`);
    const labels = [...labelText.matchAll(LABEL)];
    assert.equal(labels.map(([whole]) => whole).join(''), labelText, line);
    assert.equal(name, family, `${name} stands in another family`);
    assert.ok(types.has(name) && !seen.has(`${name}{${labelText}}`), line);
    seen.add(`${name}{${labelText}}`);
    found.push({ name, labels: Object.fromEntries(labels.map(([, key, text]) => [key, text])), value: Number(value) });
  }
  return found;
}

/** Returns the sum of all samples of a metric that have the given labels. */
export function sumOf(lines: readonly Line[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const own = lines.filter(
    (line) => line.name === name && Object.entries(labels).every(([k, v]) => line.labels[k] === v),
  );
  assert.ok(own.length > 0, `there is no ${name} ${JSON.stringify(labels)}`);
  return own.reduce((sum, { value }) => sum + value, 0);
}

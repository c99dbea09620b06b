import { readFileSync } from 'node:fs';
import { reportFiles, savedResults } from '../../bench/report/write.ts';
import { exampleConfigText } from '../../src/config/text.ts';
import { coveragePage } from '../contract/coverage.ts';
import { namesIn } from '../contract/named.ts';
import { readReferenceDocument } from '../contract/reference.ts';
import { helmValuesSchema } from './helm_values.ts';
import { reasonsPage } from './reasons_page.ts';

/** A file of the repository that is generated from others. */
export interface Generated {
  /** Path from the root. */
  readonly path: string;
  /** Expected contents; undefined if the source is missing. */
  readonly text: string | undefined;
}

const NAMES = {
  $comment: 'Made of the public omlox Hub API 2.0.0 by "npm run generate", where that document is present.',
};

/** Every file that `npm run generate` writes. Measurements, screenshots and reviewed records have other commands. */
export function generatedFiles(): readonly Generated[] {
  const reference = readReferenceDocument();
  const names = reference && `${JSON.stringify({ ...NAMES, ...namesIn(reference) }, null, 2)}\n`;
  return [
    { path: 'hub_config.yaml', text: exampleConfigText() },
    { path: 'deploy/helm/values.schema.json', text: helmValuesSchema() },
    { path: 'docs/errors.md', text: reasonsPage() },
    { path: 'test/contract/COVERAGE.md', text: coveragePage() },
    { path: 'test/contract/omlox_names.json', text: names },
    ...reportFiles(savedResults()).map(({ name, text }) => ({ path: `bench/${name}`, text })),
  ];
}

export function currentText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe has against a page as it is, its best practices included. What can be unfolded is. */
export async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
  await page.evaluate(axe.source);
  const { violations }: AxeResults = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}

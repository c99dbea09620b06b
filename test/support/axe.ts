import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Returns the violations that axe finds in a page with all details expanded, including violations of best practices. Waits for
 * the entrance of panels and dialogs, since their contrast is lower until then.
 */
export async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter(({ effect }) => effect.getTiming().iterations !== Infinity)
    .map(({ finished }) => finished.catch(() => undefined)))`);
  await page.evaluate(axe.source);
  const { violations }: AxeResults = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}

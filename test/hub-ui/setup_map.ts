import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { untilHolds } from '../support/browser.ts';

type Place = readonly [number, number];

/** A map of the page on which a test clicks positions: longitude and latitude, or meters. */
export class TestMap {
  readonly #page: Page;
  readonly #box: Locator;

  /** `label` is the accessible name of the map. */
  constructor(page: Page, label: string) {
    this.#page = page;
    this.#box = page.locator('[data-map]').filter({ has: page.getByRole('region', { name: label }) });
  }

  /** Screen coordinates of a position, derived from the positions that the map shows for two points. */
  async pixelOf([x, y]: Place): Promise<[number, number]> {
    const { left, top, width, height } = await this.#rectangle();
    const [ax, ay] = [left + width * 0.3, top + height * 0.35];
    const [bx, by] = [left + width * 0.6, top + height * 0.6];
    const [a, b] = [await this.placeAt(ax, ay), await this.placeAt(bx, by)];
    return [ax + ((x - a[0]) / (b[0] - a[0])) * (bx - ax), ay + ((y - a[1]) / (b[1] - a[1])) * (by - ay)];
  }

  /** Moves the map to a longitude and latitude by its field, and waits until the map is idle there. */
  async goTo([longitude, latitude]: Place): Promise<void> {
    const field = this.#box.getByRole('textbox', { name: 'Go to a position or place' });
    await field.fill(`${longitude}, ${latitude}`);
    await field.press('Enter');
    await untilHolds(this.#page, async () => {
      const [x, y] = await this.middle();
      return Math.abs(x - longitude) < 2e-6 && Math.abs(y - latitude) < 2e-6;
    });
  }

  /** Position at the center of the map. */
  async middle(): Promise<Place> {
    const { left, top, width, height } = await this.#rectangle();
    return this.placeAt(left + width / 2, top + height / 2);
  }

  async click(place: Place): Promise<void> {
    await this.#page.mouse.click(...(await this.pixelOf(place)));
  }

  /** Clicks a sequence of positions, the last one twice. */
  async draw(places: readonly Place[]): Promise<void> {
    const pixels: [number, number][] = [];
    for (const place of places) pixels.push(await this.pixelOf(place));
    for (const [i, [x, y]] of pixels.entries()) {
      await this.#page.mouse.move(x, y);
      if (i < pixels.length - 1) await this.#page.mouse.click(x, y);
      else await this.#page.mouse.dblclick(x, y);
    }
  }

  async drag(from: Place, to: Place): Promise<void> {
    const [start, end] = [await this.pixelOf(from), await this.pixelOf(to)];
    await this.#page.mouse.move(...start);
    await this.#page.mouse.down();
    await this.#page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2);
    await this.#page.mouse.move(...end);
    await this.#page.mouse.up();
  }

  /** The position that the map shows for this pointer position. */
  async placeAt(x: number, y: number): Promise<Place> {
    const pointer = this.#box.locator('[data-pointer]');
    let text = '';
    // The shown position belongs to this point once it is read twice.
    await untilHolds(this.#page, async () => {
      await this.#page.mouse.move(x + 1, y);
      await this.#page.mouse.move(x, y);
      await this.#page.evaluate('new Promise(requestAnimationFrame)');
      const before = text;
      text = (await pointer.textContent({ timeout: 1_000 }).catch(() => '')) ?? '';
      return text !== '' && text === before;
    });
    const [first, second] = text.split(',').map((part) => Number.parseFloat(part));
    return [first ?? Number.NaN, second ?? Number.NaN];
  }

  async #rectangle(): Promise<{ left: number; top: number; width: number; height: number }> {
    const box = (await this.#box.boundingBox()) ?? assert.fail('The map has no size');
    return { left: box.x, top: box.y, width: box.width, height: box.height };
  }
}

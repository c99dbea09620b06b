import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { played, RECORD, recordText } from './record.ts';
import { SCENES } from './scenes.ts';

/**
 * Records all events again, after an intended change of an event. With a folder, it also writes the events themselves
 * there, one per line, to compare those of two checkouts.
 */
const [folder] = process.argv.slice(2);
writeFileSync(RECORD, await recordText());
console.log('test/core/recorded/events.json is written');
for (const name of folder === undefined ? [] : Object.keys(SCENES)) {
  for (const [subscription, texts] of (await played(name, 'scanner')).texts) {
    const file = join(folder as string, name, subscription.replaceAll(/[^\w.-]+/g, '_'));
    mkdirSync(join(folder as string, name), { recursive: true });
    const events = JSON.parse(`[${texts.join(',')}]`) as unknown[];
    writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
}

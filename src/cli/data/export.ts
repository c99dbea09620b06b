import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { StoredKind } from '../../core/entity_write.ts';
import { RULES_SETTING } from '../../entities/locating_rules.ts';
import { replaceByPrivate } from '../../store/private_files.ts';
import { type StoredEntities, readEntities } from '../../store/read_entities.ts';
import { CliError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { DEFINED_KINDS } from '../../entities/defined_lists.ts';
import { withoutSecrets } from '../../entities/documents.ts';
import { DEFINED_NAMES, FORMAT, FORMAT_VERSION, LISTS } from '../../entities/import_document.ts';
import { clusterHere, databaseHere, refuseOwnFiles } from './place.ts';
import { Steps } from './steps.ts';

/** Entities written at once. */
const AT_ONCE = 1000;

/** `export FILE`: writes all entities, also of a cluster, as one JSON document, whether or not a hub is running. */
export async function exportCommand(to: string): Promise<void> {
  const { entities, from } = await entitiesHere(to);
  const unfinished = `${to}.tmp`;
  const signal = interruption();
  const steps = new Steps();
  try {
    replaceByPrivate(unfinished);
    const file = openSync(unfinished, 'w');
    let written = 0;
    try {
      for (const text of documentOf(entities, new Date())) {
        signal.throwIfAborted();
        writeSync(file, text.text);
        written += text.count;
        steps.show({
          text: `Exporting ${written} of ${entities.count} entities`,
          part: written / (entities.count || 1),
        });
        // Allows Ctrl-C in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, to);
    steps.done(`Exported ${written} entities from ${from} to ${to} in ${steps.seconds}`);
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (signal.aborted) throw new CliError(`Interrupted: ${to} was not written`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new CliError(`Cannot write ${to}: ${message}`);
  } finally {
    entities.close();
  }
}

async function entitiesHere(to: string): Promise<{ readonly entities: StoredEntities; readonly from: string }> {
  const cluster = await clusterHere();
  if (cluster === undefined) {
    const path = databaseHere();
    refuseOwnFiles(to, path);
    return { entities: readEntities(path), from: path };
  }
  const stored = cluster.entities;
  await cluster.close();
  const textsOf = (kind: StoredKind) => stored.flatMap((each) => (each.kind === kind ? [each.text ?? ''] : []));
  const entities: StoredEntities = {
    count: stored.length - textsOf('setting').length,
    texts: (kind) => textsOf(kind).values(),
    setting: (name) => stored.find(({ kind, id }) => kind === 'setting' && id === name)?.text,
    settings: (prefix) =>
      stored
        .filter(({ kind, id }) => kind === 'setting' && id.startsWith(prefix))
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .flatMap(({ text }) => text ?? [])
        .values(),
    close: () => undefined,
  };
  return { entities, from: 'the cluster' };
}

/** The document in parts, one entity per line, in stored form. */
function* documentOf(entities: StoredEntities, now: Date): Generator<{ text: string; count: number }> {
  const head = { format: FORMAT, version: FORMAT_VERSION, exported_at: now.toISOString() };
  yield { text: JSON.stringify(head).slice(0, -1), count: 0 };
  for (const [name, kind] of LISTS) {
    yield { text: `,\n"${name}": [`, count: 0 };
    let lines: string[] = [];
    let before = '\n';
    for (const text of entities.texts(kind)) {
      lines.push(text);
      if (lines.length < AT_ONCE) continue;
      yield { text: before + lines.join(',\n'), count: lines.length };
      before = ',\n';
      lines = [];
    }
    if (lines.length > 0) yield { text: before + lines.join(',\n'), count: lines.length };
    yield { text: ']', count: 0 };
  }
  const rules = entities.setting(RULES_SETTING);
  if (rules !== undefined) yield { text: `,\n"locating_rules": ${rules}`, count: 0 };
  for (const name of DEFINED_NAMES) {
    const kind = DEFINED_KINDS[name];
    const stored = [...entities.settings(kind.prefix)];
    const lines =
      kind.secrets === undefined
        ? stored
        : stored.map((json) => JSON.stringify(withoutSecrets(JSON.parse(json) as object, kind)));
    yield { text: `,\n"${name}": [${lines.length === 0 ? '' : '\n'}${lines.join(',\n')}]`, count: 0 };
  }
  yield { text: '}\n', count: 0 };
}

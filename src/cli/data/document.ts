import { readFileSync } from 'node:fs';
import { type EntityDocument, type Problem, readDocument } from '../../entities/import_document.ts';
import { decodeUnicode } from '../../model/decode_unicode.ts';
import { parseStoredJson, UnsupportedJson } from '../../model/json.ts';
import { show } from '../../model/error_value_text.ts';
import { CommandError } from '../command_error.ts';

const PROBLEMS_SHOWN = 10;

/** Reads the document in a file. What its entities hold is checked later. Throws a CommandError that names what is wrong. */
export function readDocumentFile(path: string): EntityDocument {
  const document = readDocument(parse(path));
  if ('entities' in document) return document;
  const [first] = document;
  if (first !== undefined && (first.place === 'format' || first.place === 'version')) {
    throw new CommandError(`Cannot import ${path}: ${lineOf(first)}`);
  }
  throw refused(path, document);
}

/** A refusal with the first problems, a line each. */
export function refused(path: string, problems: readonly Problem[]): CommandError {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map(lineOf);
  const more = problems.length > shown.length ? [`… and ${problems.length - shown.length} more`] : [];
  const first = `Cannot import ${path}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, nothing was changed`;
  return new CommandError([first, ...shown, ...more].join('\n  '));
}

function lineOf({ place, message }: Problem): string {
  return `${place}: ${message}`;
}

function parse(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseStoredJson(decodeUnicode(readFileSync(path)));
  } catch (error) {
    if (error instanceof UnsupportedJson)
      throw new CommandError(`Cannot import ${path}: ${error.message}`, { cause: error });
    throw new CommandError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CommandError(`Cannot import ${path}: it must be one JSON object, found ${show(value)}`);
}

import { readFileSync } from 'node:fs';
import { type EntityDocument, type DocumentProblem, readDocument } from '../../entities/import_document.ts';
import { decodeUnicode } from '../../model/decode_unicode.ts';
import { parseStoredJson, UnsupportedJson } from '../../model/json.ts';
import { show } from '../../model/error_value_text.ts';
import { CliError } from '../command_error.ts';
import { isObject } from '../../model/json_tree.ts';
import { messageOf } from '../../errors.ts';

const PROBLEMS_SHOWN = 10;

/** Reads a document from a file; its entities are checked later. Throws a CliError that names the problem. */
export function readDocumentFile(path: string): EntityDocument {
  const document = readDocument(parse(path));
  if ('entities' in document) return document;
  const [first] = document;
  if (first !== undefined && (first.place === 'format' || first.place === 'version')) {
    throw new CliError(`Cannot import ${path}: ${lineOf(first)}`);
  }
  throw refused(path, document);
}

/** An error with the first problems, one per line. */
export function refused(path: string, problems: readonly DocumentProblem[]): CliError {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map(lineOf);
  const more = problems.length > shown.length ? [`… and ${problems.length - shown.length} more`] : [];
  const first = `Cannot import ${path}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, nothing was changed`;
  return new CliError([first, ...shown, ...more].join('\n  '));
}

function lineOf({ place, message }: DocumentProblem): string {
  return `${place}: ${message}`;
}

function parse(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseStoredJson(decodeUnicode(readFileSync(path)));
  } catch (error) {
    if (error instanceof UnsupportedJson)
      throw new CliError(`Cannot import ${path}: ${error.message}`, { cause: error });
    throw new CliError(`Cannot read ${path}: ${messageOf(error)}`);
  }
  if (isObject(value)) return value as Record<string, unknown>;
  throw new CliError(`Cannot import ${path}: it must be one JSON object, found ${show(value)}`);
}

import { t } from '../languages/language.ts';

/**
 * Error for a string that is not JSON, with the line of the error if the browser reports it. The message of the browser
 * would be in English, and quote the string.
 */
export function notJsonError(text: string, cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : '';
  const [, position] = /position (\d+)/.exec(message) ?? [];
  const [, lineFound] = /line (\d+)/.exec(message) ?? [];
  const before = position === undefined ? undefined : text.slice(0, Number(position));
  if (/end of|unterminated/i.test(message) || before?.trimEnd() === text.trimEnd()) {
    return new Error(t('The file is not JSON: it ends too early'), { cause });
  }
  const line = before?.split('\n').length ?? lineFound;
  if (line === undefined) return new Error(t('The file is not JSON'), { cause });
  return new Error(t('The file is not JSON: line {line} is invalid', { line }), { cause });
}

import { t } from '../languages/language.ts';
import { labelOfMember } from '../problems/sentences.ts';

const DURATION = /(delay|timeout)$/;
const SHOWN_MAX = 120;

/** Label of a member in the form; properties have their own name. */
export function labelOfPath([name = '', ...inner]: readonly string[]): string {
  return [labelOfMember(name), ...inner].join(', ');
}

/** Formats the value of a member as in the form. */
export function valueText([name = '', ...inner]: readonly string[], value: unknown): string {
  if (value == null || value === '') return t('empty');
  if (typeof value === 'number' && inner.length === 0 && DURATION.test(name)) {
    return value === -1 ? t('forever') : `${value / 1_000} s`;
  }
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value !== 'object') return cut(String(value));
  const { type, coordinates } = value as { readonly type?: unknown; readonly coordinates?: readonly unknown[] };
  if (type === 'Polygon')
    return t('{count} corners', {
      count: ((coordinates?.[0] as readonly unknown[] | undefined)?.length ?? 1) - 1,
    });
  if (type === 'Point') return t('at {place}', { place: (coordinates ?? []).join(', ') });
  return cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}

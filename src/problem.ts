import {
  type EnumParam,
  type ErrorReason,
  PARAM_VALUES,
  type Param,
  type ParamValue,
  type ParamsGiven,
  REASONS,
  type Reason,
  type ReasonParams,
} from './reasons.ts';

/** Why a request or a value is rejected. The message is rendered on demand. */
export class Problem implements ErrorReason {
  readonly reason: Reason;
  readonly params: ReasonParams;
  readonly #detail: string;

  /** An unchecked problem; see problemOf. */
  constructor({ reason, params }: ErrorReason, detail = '') {
    this.reason = reason;
    this.params = params;
    this.#detail = detail;
  }

  /** Returns the same problem for another field. */
  at(path: string): Problem {
    return new Problem({ reason: this.reason, params: { ...this.params, path } }, this.#detail);
  }

  /** The English message: `exit_delay: must be a number, found "abc"`. */
  toString(): string {
    const { path, found, outcome } = this.params;
    const template = REASONS[this.reason] ?? this.reason;
    const message = fillTemplate(template, { detail: this.#detail, ...this.params }, ENGLISH);
    const isShown = found === undefined || template.includes('{found}');
    return (
      (path === undefined ? '' : `${path}: `) +
      message +
      (isShown ? '' : `, found ${ENGLISH.count(found)}`) +
      (outcome === undefined ? '' : OUTCOMES[outcome as keyof typeof OUTCOMES])
    );
  }
}

/** The problem of that reason. `detail`: text of a library for the message. */
export function problemOf<R extends Reason>(
  reason: R,
  ...[params, detail]: [...ParamsGiven<R>, detail?: string]
): Problem {
  return new Problem({ reason, params: (params ?? {}) as ReasonParams }, detail as string | undefined);
}

/** Endings of messages by the parameter `outcome`. */
export const OUTCOMES = {
  partial: '; some of them are processed',
  unknown: '; it may still be done, completely or in part',
};

/** The problem of a longitude or latitude beyond plus or minus `limit`. */
export function outOfAxis(
  axis: ParamValue<'axis'>,
  limit: number,
  where: { readonly path: string; readonly found?: string | number },
): Problem {
  return problemOf('axis_out_of_range', { ...where, axis, minimum: -limit, maximum: limit });
}

/** Formatting of parameters in a language. */
export interface ParamLanguage {
  readonly values: Readonly<Record<EnumParam, Readonly<Record<string, string>>>>;
  /** Returns a number with thousands separators; other values unchanged. */
  count(value: Param): string;
}

const ENGLISH: ParamLanguage = {
  values: PARAM_VALUES,
  count: (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) ? grouped(value) : shorten(String(value)),
};

/** Parameters that are counts, displayed with thousands separators. */
const COUNTS: ReadonlySet<string> = new Set(['bytes', 'count', 'found', 'limit', 'rows']);
/** Longest value in a message. */
const SHOWN_MAX = 80;

/** Fills a template of a message with parameters. */
export function fillTemplate(template: string, params: ReasonParams, { values, count }: ParamLanguage): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    if (typeof value === 'object') return value.join(', ');
    if (COUNTS.has(name)) return count(value);
    const words = Object.hasOwn(values, name) ? values[name as EnumParam][String(value)] : undefined;
    return words ?? (name === 'detail' ? String(value) : shorten(String(value)));
  });
}

function shorten(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 3)}...` : text;
}

/** Formats an integer with thousands separators. Intl takes 40 ms on first use. */
export function grouped(value: number): string {
  const digits = String(Math.abs(value));
  const first = digits.length % 3 || 3;
  let text = (value < 0 ? '-' : '') + digits.slice(0, first);
  for (let at = first; at < digits.length; at += 3) text += `,${digits.slice(at, at + 3)}`;
  return text;
}

type Properties = Readonly<Record<string, unknown>> | null | undefined;

const BATTERY = /^battery([_-]?(level|percent|percentage|remaining|info|voltage))?$/i;
/** Search depth: locating systems nest the properties of a tag, as in `iso24730.battery`. */
const DEPTH_MAX = 3;

/**
 * Returns the first battery value in the properties of locations or entities; undefined if there is none. No standard
 * defines the unit, so the value is shown as it was sent.
 */
export function batteryText(...properties: readonly Properties[]): string | undefined {
  for (const each of properties) {
    const found = batteryIn(each, DEPTH_MAX);
    if (found !== undefined) return found;
  }
  return undefined;
}

function batteryIn(value: unknown, depth: number): string | undefined {
  if (depth === 0 || typeof value !== 'object' || value === null) return undefined;
  const members = Object.entries(value);
  for (const [name, member] of members) {
    if (!BATTERY.test(name) || member == null) continue;
    return typeof member === 'object' ? membersText(member) : `${String(member)}${unitOf(name)}`;
  }
  for (const [, member] of members) {
    const found = batteryIn(member, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unitOf(name: string): string {
  return /percent/i.test(name) ? ' %' : /voltage/i.test(name) ? ' V' : '';
}

/** Batteries up to this level are low. */
export const LOW_BATTERY_PERCENT = 20;
/** Smaller numbers without a unit are codes, as in ISO 24730, or volts. */
const UNITLESS_MIN = 8;

/**
 * Returns the level in percent of a text of `batteryText`; undefined if the text has none. A whole number without a unit is
 * percent, from `UNITLESS_MIN` on.
 */
export function batteryPercent(text: string): number | undefined {
  const [, marked] = /(?:percent\w*\s+)(\d+(?:\.\d+)?)/i.exec(text) ?? /^(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  if (marked !== undefined) return Number(marked);
  const plain = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  return plain >= UNITLESS_MIN && plain <= 100 ? plain : undefined;
}

/** Formats a battery object with several members, such as percentage and voltage. */
function membersText(battery: object): string {
  const members = Object.entries(battery).filter(([, value]) => typeof value !== 'object');
  return members.map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`).join(', ');
}

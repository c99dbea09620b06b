import { signal } from '@preact/signals';

const KEY = 'hub-muster-checked';

/** When objects were checked off by hand, by id: on this device, and until the list is reset. */
export const checkedOff = signal<ReadonlyMap<string, number>>(stored());

/** Checks an object off, or cancels that. */
export function checkOff(id: string, isSafe: boolean): void {
  const next = new Map(checkedOff.value);
  if (isSafe) next.set(id, Date.now());
  else next.delete(id);
  store(next);
}

/** Cancels all marks. */
export function resetChecked(): void {
  store(new Map());
}

function store(checked: ReadonlyMap<string, number>): void {
  checkedOff.value = checked;
  localStorage.setItem(KEY, JSON.stringify([...checked]));
}

function stored(): ReadonlyMap<string, number> {
  try {
    return new Map(JSON.parse(localStorage.getItem(KEY) ?? '[]') as [string, number][]);
  } catch {
    return new Map();
  }
}

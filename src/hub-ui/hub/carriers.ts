import { computed } from '@preact/signals';
import type { Trackable } from '../../model/trackable.ts';
import { storeOf } from './stores.ts';

/** Trackables by the ids of their assigned providers; up to date while a component follows the trackables. */
export const trackablesByProvider = computed(() => {
  const found = new Map<string, Trackable[]>();
  for (const trackable of storeOf('trackables').items.value.values()) {
    for (const id of trackable.location_providers ?? []) {
      const its = found.get(id);
      if (its === undefined) found.set(id, [trackable]);
      else its.push(trackable);
    }
  }
  return found;
});

import { useEffect, useState } from 'preact/hooks';
import type { Location } from '../../../model/location.ts';
import { can } from '../../hub/access.ts';
import { get } from '../../hub/rest.ts';

const LIVE_MS = 5_000;

/** Polls the live locations for previews; undefined until loaded, and without permission. */
export function useLive(): readonly Location[] | undefined {
  const [live, setLive] = useState<readonly Location[]>();
  useEffect(() => {
    if (!can('READ', '/providers/locations')) return;
    let isOver = false;
    const look = (): void => {
      get<readonly Location[]>('/providers/locations').then(
        (found) => {
          if (!isOver) setLive(found);
        },
        () => undefined,
      );
    };
    look();
    const timer = setInterval(look, LIVE_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, []);
  return live;
}

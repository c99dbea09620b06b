import { useLayoutEffect, useState } from 'preact/hooks';
import { setUrlParams } from '../../controls/url_state.ts';
import { isWallFromUrl } from './map_url.ts';

/** The pointer, and what leads out of the view, are hidden when nobody has moved for so long. */
const IDLE_MS = 3_000;

/** Shows the map for a screen on a wall, on all of the screen where the browser lets it. */
export function enterWall(): void {
  setUrlParams({ wall: 1 }, { replace: false });
  // It is a wall all the same where this is refused, such as in a frame.
  document.documentElement.requestFullscreen?.().catch(() => undefined);
}

export function leaveWall(): void {
  setUrlParams({ wall: undefined });
  if (document.fullscreenElement !== null) document.exitFullscreen().catch(() => undefined);
}

/** How much larger than usual symbols and names are: a wall is looked at from afar. */
export function scaleOfMap(): number {
  if (!isWallFromUrl() || innerWidth < 1_600) return 1;
  return innerWidth < 3_000 ? 1.5 : 2;
}

/** Ends the view with Escape, which the browser takes for itself where the page has all of the screen. */
export function useWayOut(): void {
  // Before the view is seen: whoever sees it may leave at once.
  useLayoutEffect(() => {
    const keys = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') leaveWall();
    };
    const change = (): void => {
      if (document.fullscreenElement === null) leaveWall();
    };
    addEventListener('keydown', keys);
    document.addEventListener('fullscreenchange', change);
    return () => {
      removeEventListener('keydown', keys);
      document.removeEventListener('fullscreenchange', change);
    };
  }, []);
}

/** Whether nobody moves the pointer; it is hidden meanwhile. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useLayoutEffect(() => {
    let timer = setTimeout(() => setIdle(true), IDLE_MS);
    const move = (): void => {
      clearTimeout(timer);
      setIdle(false);
      timer = setTimeout(() => setIdle(true), IDLE_MS);
    };
    for (const name of ['pointermove', 'pointerdown', 'keydown']) addEventListener(name, move);
    return () => {
      clearTimeout(timer);
      for (const name of ['pointermove', 'pointerdown', 'keydown']) removeEventListener(name, move);
    };
  }, []);
  useLayoutEffect(() => {
    document.documentElement.style.cursor = isIdle ? 'none' : '';
    return () => {
      document.documentElement.style.cursor = '';
    };
  }, [isIdle]);
  return isIdle;
}

/** Keeps the display awake while the page is seen: the browser lets go of it whenever the page is hidden. */
export function useAwake(): void {
  useLayoutEffect(() => {
    let lock: WakeLockSentinel | undefined;
    let isDisposed = false;
    const requestLock = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      try {
        const got = await navigator.wakeLock?.request('screen');
        if (isDisposed) await got?.release();
        else lock = got;
      } catch {
        // A low battery, or the system's policy: the display then sleeps when it is set to.
      }
    };
    void requestLock();
    document.addEventListener('visibilitychange', requestLock);
    return () => {
      isDisposed = true;
      document.removeEventListener('visibilitychange', requestLock);
      void lock?.release();
    };
  }, []);
}

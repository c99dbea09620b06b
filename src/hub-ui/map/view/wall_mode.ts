import { useLayoutEffect, useState } from 'preact/hooks';
import { setUrlParams } from '../../controls/url_state.ts';
import { isWallFromUrl } from './map_url.ts';

/** Idle time after which the pointer and the close button are hidden. */
const IDLE_MS = 3_000;

/** Switches to the wall view, in full screen if the browser permits it. */
export function enterWall(): void {
  setUrlParams({ wall: 1 }, { replace: false });
  // The wall view works without full screen, for example in an iframe.
  document.documentElement.requestFullscreen?.().catch(() => undefined);
}

export function leaveWall(): void {
  setUrlParams({ wall: undefined });
  if (document.fullscreenElement !== null) document.exitFullscreen().catch(() => undefined);
}

/** Scale of symbols and labels, larger in the wall view, which is seen from a distance. */
export function scaleOfMap(): number {
  if (!isWallFromUrl() || innerWidth < 1_600) return 1;
  return innerWidth < 3_000 ? 1.5 : 2;
}

/** Leaves the wall view on Escape, or when the browser leaves full screen. */
export function useWallExit(): void {
  // A layout effect, so that Escape works from the first paint.
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

/** Returns whether the pointer is idle, and hides it while it is. */
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

/** Keeps the display awake while the page is visible; browsers release the lock of a hidden page. */
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
        // Denied because of a low battery or a system policy: the display may sleep.
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

/**
 * Has the shell of the page kept by a service worker, so that it opens without a hub, and can be installed. Browsers offer
 * that over HTTPS and on the machine itself only. Once the page is there: nothing that it shows waits for it.
 */
export function keepShell(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const folder = import.meta.env.BASE_URL;
  const register = (): void => {
    // Without it, the page is as it was before there were any.
    navigator.serviceWorker
      .register(`${folder}sw.js`, { scope: folder, updateViaCache: 'none' })
      .catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}

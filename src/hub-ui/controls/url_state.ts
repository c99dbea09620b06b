import { signal } from '@preact/signals';

/** Query of the URL as a signal, updated by links, code and the browser's history. */
const query = signal(new URLSearchParams(location.search));

function read(): void {
  const now = new URLSearchParams(location.search);
  if (now.toString() !== query.peek().toString()) query.value = now;
}

// The router dispatches events for pushState and replaceState.
for (const event of ['popstate', 'pushState', 'replaceState']) addEventListener(event, read);

/** Returns a URL parameter; undefined if it is absent. */
export function urlParam(name: string): string | undefined {
  return query.value.get(name) ?? undefined;
}

/** Replaces all URL parameters. */
export function setQuery(search: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = new URL(location.href);
  url.search = search;
  if (url.href === location.href) return;
  if (replace) history.replaceState(history.state, '', url);
  else history.pushState(null, '', url);
  read();
}

/** URL parameters to set; undefined removes one. */
export type UrlChange = Readonly<Record<string, string | number | undefined>>;

/**
 * Changes some URL parameters. View changes replace the history entry (`replace`); steps that the user may want to undo
 * add one.
 */
export function setUrlParams(change: UrlChange, { replace = true }: { readonly replace?: boolean } = {}): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  // Commas and colons need no escaping in a query, and the URL stays readable.
  url.search = url.searchParams.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  if (url.href === location.href) return;
  if (replace) history.replaceState(history.state, '', url);
  else history.pushState(null, '', url);
  read();
}

import { signal } from '@preact/signals';

/** The query of the address, as a signal: whoever reads it is told of every change, by link, by code or by going back. */
const query = signal(new URLSearchParams(location.search));

function read(): void {
  const now = new URLSearchParams(location.search);
  if (now.toString() !== query.peek().toString()) query.value = now;
}

// The router makes events of the two calls.
for (const event of ['popstate', 'pushState', 'replaceState']) addEventListener(event, read);

/** The value of a parameter of the address; undefined where it is not there. */
export function urlParam(name: string): string | undefined {
  return query.value.get(name) ?? undefined;
}

/** Changes all parameters at once, to those of a query. */
export function setQuery(search: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = new URL(location.href);
  url.search = search;
  if (url.href === location.href) return;
  if (replace) history.replaceState(history.state, '', url);
  else history.pushState(null, '', url);
  read();
}

/** Parameters, and which of them to set; undefined takes one away. */
export type UrlChange = Readonly<Record<string, string | number | undefined>>;

/**
 * Changes parameters and leaves the others. A change of what is looked at replaces the address (`replace`), a step that
 * one may want to take back adds one to the history.
 */
export function setUrlParams(change: UrlChange, { replace = true }: { readonly replace?: boolean } = {}): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  // Commas and colons mean nothing in a query, and addresses are to be read.
  url.search = url.searchParams.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  if (url.href === location.href) return;
  if (replace) history.replaceState(history.state, '', url);
  else history.pushState(null, '', url);
  read();
}

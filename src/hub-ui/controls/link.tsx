import type { JSX } from 'preact';
import { useRouter } from 'wouter-preact';
import { navigate } from 'wouter-preact/use-browser-location';

type Attributes = Omit<JSX.AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'>;

/**
 * Link to a page of this site; `href` starts at the site's root.
 *
 * It has no click handler. The router's link retains the props of its first render in a handler, and through their
 * children the whole tree of that time. In a list that is redrawn all day, memory would grow with each row.
 */
export function Link({ href, ...attributes }: Attributes & { readonly href: string }) {
  return <a {...attributes} data-page href={`${useRouter().base}${href}`} />;
}

/** Handles clicks on links without a page load. Call it once, at the start of the page. */
export function followLinks(): void {
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    // The browser opens another tab or window, or saves the target.
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[data-page]') : null;
    if (link === null) return;
    event.preventDefault();
    navigate(link.getAttribute('href') ?? '');
  });
}

import type { JSX } from 'preact';
import { useRouter } from 'wouter-preact';
import { navigate } from 'wouter-preact/use-browser-location';

type Attributes = Omit<JSX.AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'>;

/**
 * A link to a page of this site, whose address begins at the site's root.
 *
 * It has no handler of its own. The router's link has one that keeps the props it was first drawn with, and through their
 * children the whole tree of that moment. In a list that is drawn anew all day, each row would keep the rows before it.
 */
export function Link({ href, ...attributes }: Attributes & { readonly href: string }) {
  return <a {...attributes} data-page href={`${useRouter().base}${href}`} />;
}

/** Opens the pages that links lead to, without loading the site anew; once, when the site starts. */
export function followLinks(): void {
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    // For another tab or window, or to be saved.
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[data-page]') : null;
    if (link === null) return;
    event.preventDefault();
    navigate(link.getAttribute('href') ?? '');
  });
}

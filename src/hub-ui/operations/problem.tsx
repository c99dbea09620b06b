import { Notice } from '../parts/page.tsx';

/** Why something could not be had; nothing where it could. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <Notice tone="danger">{text}</Notice>;
}

import { useLayoutEffect, useState } from 'preact/hooks';
import { lazyPart } from '../controls/lazy.tsx';
import { loadPageTexts } from '../languages/language.ts';
import { isListed, NAV_GROUPS } from './pages.ts';

const Palette = lazyPart(async () => {
  await loadPageTexts();
  return (await import('../palette/palette.tsx')).Palette;
});

/** The command palette, which Ctrl+K or Command+K opens and closes on every page. */
export function PaletteKey() {
  const [isOpen, setOpen] = useState(false);
  // A layout effect, so that the key works from the first paint.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  if (!isOpen) return null;
  return <Palette pages={NAV_GROUPS.flatMap(({ pages }) => pages).filter(isListed)} onClose={() => setOpen(false)} />;
}

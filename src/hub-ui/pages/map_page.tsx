import { useTitle } from '../parts/page.tsx';

export function MapPage() {
  useTitle('Map');
  return <div class="page-full" />;
}

import { Empty, Page } from '../parts/page.tsx';

export function FencesPage() {
  return (
    <Page title="Fences">
      <Empty icon="fence" title="Nothing here yet" />
    </Page>
  );
}

import { Empty, Page } from '../parts/page.tsx';

export function RulesPage() {
  return (
    <Page title="Rules">
      <Empty icon="rule" title="Nothing here yet" />
    </Page>
  );
}

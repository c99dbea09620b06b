import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';

/** What the hub has said, as a sentence. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

export function Failed({ problem, onAgain }: { readonly problem: string; readonly onAgain: () => void }) {
  return (
    <Notice tone="danger">
      <div class={flow.stack}>
        <span>{problem}</span>
        <div>
          <Button onClick={onAgain}>Try again</Button>
        </div>
      </div>
    </Notice>
  );
}

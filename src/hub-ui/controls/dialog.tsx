import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../languages/language.ts';
import { Button, type ButtonKind, IconButton } from './button.tsx';
import styles from './dialog.module.css';
import flow from './flow.module.css';
import typography from './typography.module.css';

/** Modal dialog that traps the focus and restores it on close. Escape and the cross close it. */
export function Dialog({
  title,
  onClose,
  children,
  foot,
  wide = false,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the bottom. */
  readonly foot?: ComponentChildren;
  readonly wide?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect, so that the dialog has the focus before the next key.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // While the dialog is open, elements outside of it cannot take the focus.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={styles.dialog}
      data-wide={wide || undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class={styles.head}>
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label={t('Close')} onClick={onClose} />
      </div>
      <div class={`${styles.body} ${flow.stack}`}>{children}</div>
      {foot && <div class={styles.foot}>{foot}</div>}
    </dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** Label of the confirming button. */
  readonly action: string;
  readonly kind?: ButtonKind;
}

const openQuestion = signal<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined);

/** Asks for confirmation of an irreversible action. Resolves with the answer; closing the dialog means no. */
export function confirm(question: Question): Promise<boolean> {
  openQuestion.value?.answer(false);
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      answer(yes) {
        openQuestion.value = undefined;
        resolve(yes);
      },
    };
  });
}

/** Renders the question of `confirm`; once per page. */
export function Questions() {
  const question = openQuestion.value;
  if (question === undefined) return null;
  return (
    <Dialog
      title={question.title}
      onClose={() => question.answer(false)}
      foot={
        <>
          <Button onClick={() => question.answer(false)}>{t('Cancel')}</Button>
          <Button kind={question.kind ?? 'danger'} onClick={() => question.answer(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      <div class={`${flow.stack} ${typography.soft}`}>
        {typeof question.text === 'string' ? <p>{question.text}</p> : question.text}
      </div>
    </Dialog>
  );
}

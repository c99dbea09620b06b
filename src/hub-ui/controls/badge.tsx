import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'ok' | 'warn' | 'danger' | 'info' | 'accent';

export function Badge({
  tone = 'neutral',
  dot = false,
  children,
}: {
  readonly tone?: Tone;
  readonly dot?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="badge" data-tone={tone}>
      {dot && <span class="dot" />}
      {children}
    </span>
  );
}

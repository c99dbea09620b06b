import type { ComponentChildren } from 'preact';

/** A panel with a heading. `flush` where a table fills it to its edges. */
export function Card({
  title,
  actions,
  flush = false,
  children,
}: {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={title}>
      {title !== undefined && (
        <div class="card-head">
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      <div class={flush ? 'card-body flush' : 'card-body'}>{children}</div>
    </section>
  );
}

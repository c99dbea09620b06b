import type { ComponentChildren, JSX, Ref } from 'preact';
import styles from './button.module.css';
import flow from './flow.module.css';
import { Icon, type IconName } from './icons.tsx';
import { Link } from './link.tsx';
import type { Option } from './select.tsx';

export type ButtonKind = 'plain' | 'main' | 'danger' | 'quiet';

interface ButtonProps extends Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'ref'> {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  /** Why the button is disabled, as its tooltip; undefined if it is enabled. */
  readonly off?: string | undefined;
  readonly children?: ComponentChildren;
  readonly innerRef?: Ref<HTMLButtonElement>;
}

/** Button with a label, and optionally an icon in front of it. */
export function Button({ kind = 'plain', icon, children, type = 'button', innerRef, off, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      {...(off !== undefined && { 'aria-disabled': true, title: off, onClick: undefined })}
      ref={innerRef ?? null}
      type={type}
      class={`${styles.button} ${rest.class ?? ''}`}
      data-kind={kind}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Button with only an icon; `label` is its tooltip and accessible name. */
export function IconButton({
  label,
  kind = 'quiet',
  ...rest
}: Omit<ButtonProps, 'children' | 'icon'> & { readonly icon: IconName; readonly label: string }) {
  return <Button {...rest} kind={kind} data-icon-only aria-label={label} title={label} />;
}

/** Button below a list that shows more of it. */
export function ShowMore({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <div class={flow.more}>
      <Button kind="quiet" onClick={onClick}>
        {label}
      </Button>
    </div>
  );
}

/** Link to a page, styled as a button. */
export function ButtonLink({
  href,
  kind = 'plain',
  icon,
  children,
}: Pick<ButtonProps, 'kind' | 'icon' | 'children'> & { readonly href: string }) {
  return (
    <Link href={href} class={styles.button} data-kind={kind}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

/** Link to a page with only an icon; `label` is its accessible name, and its tooltip unless `title` is given. */
export function IconLink({
  href,
  icon,
  label,
  title = label,
}: {
  readonly href: string;
  readonly icon: IconName;
  readonly label: string;
  readonly title?: string;
}) {
  return (
    <Link href={href} class={styles.button} data-kind="quiet" data-icon-only aria-label={label} title={title}>
      <Icon name={icon} />
    </Link>
  );
}

/** Selection of one of a few options, all of them visible. */
export function Choice<T extends string>(props: {
  readonly label: string;
  readonly value: T | undefined;
  readonly options: readonly Option<T>[];
  readonly onChange: (value: T) => void;
}) {
  return (
    <fieldset class={styles.choice} aria-label={props.label}>
      {props.options.map(({ value, label }) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

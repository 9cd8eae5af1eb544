/** Buttons: with a text, and with an icon alone. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconType } from './icon.js';

type Attributes = Omit<ButtonHTMLAttributes, 'icon' | 'label' | 'size' | 'class'>;

interface ButtonProps extends Attributes {
  /** `main` is the one action that a view is for; default: a button with a border. */
  readonly variant?: 'main' | 'danger' | 'ghost';
  readonly small?: boolean;
  readonly icon?: IconType;
  /** Shows a spinner and takes no clicks. */
  readonly busy?: boolean;
  readonly children: ComponentChildren;
}

export function Button({ variant, small, icon, busy = false, disabled, children, ...rest }: ButtonProps) {
  const classes = ['button', variant, small && 'small'].filter(Boolean).join(' ');
  return (
    <button type="button" {...rest} class={classes} disabled={disabled || busy} aria-busy={busy || undefined}>
      {busy ? <Spinner /> : icon && <Icon of={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Attributes {
  readonly icon: IconType;
  /** Name for screen readers, also shown as a tooltip. */
  readonly label: string;
  readonly pressed?: boolean;
  readonly small?: boolean;
  readonly danger?: boolean;
}

export function IconButton({ icon, label, pressed, small, danger, ...rest }: IconButtonProps) {
  const classes = ['icon-button', small && 'small', danger && 'danger'].filter(Boolean).join(' ');
  return (
    <button type="button" title={label} {...rest} class={classes} aria-label={label} aria-pressed={pressed}>
      <Icon of={icon} />
    </button>
  );
}

export const Spinner = () => <span class="spinner" aria-hidden="true" />;

/** A button of the control bar: an icon with a caption below it, where there is room. */
import type { ButtonHTMLAttributes } from 'preact';
import { Icon, type IconType } from '../../shared/components/icon.js';

interface Badge {
  readonly count: number;
  /** Added to the name of the button. */
  readonly text?: string;
  readonly isUrgent?: boolean;
}

interface ControlButtonProps extends Omit<ButtonHTMLAttributes, 'icon' | 'label' | 'class'> {
  readonly icon: IconType;
  readonly label: string;
  readonly class?: string;
  /** Something of ours that is off: microphone or camera. */
  readonly isOff?: boolean;
  readonly isActive?: boolean;
  readonly badge?: Badge;
}

export function ControlButton(props: ControlButtonProps) {
  const { icon, label, class: name, isOff, isActive, badge, ...rest } = props;
  const classes = ['control', name, isOff && 'off', isActive && 'active'].filter(Boolean).join(' ');
  return (
    <button type="button" title={label} {...rest} class={classes}>
      <Icon of={icon} />
      <span class="caption">{label}</span>
      {badge?.text && <span class="unseen">{badge.text}</span>}
      {badge && (
        <span class={`badge ${badge.isUrgent ? '' : 'calm'}`} aria-hidden="true">
          {badge.count}
        </span>
      )}
    </button>
  );
}

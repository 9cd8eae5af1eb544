/** What a view shows instead of content: nothing there, loading, failed; and the banner of a lost connection. */
import { CircleAlert, RotateCw, WifiOff } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { Button, Spinner } from './button.js';
import { Icon, type IconType } from './icon.js';

interface EmptyProps {
  readonly icon?: IconType;
  readonly title: string;
  /** What to do next. */
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="state">
      {icon && <Icon of={icon} />}
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Loading({ label = 'Loading…' }: { label?: string }) {
  return (
    <div class="state" role="status">
      <Spinner />
      <span>{label}</span>
    </div>
  );
}

/** `retry` is offered as a button. */
export function Failed({ error, retry, retryLabel = 'Try again' }: FailedProps) {
  return (
    <div class="state" role="alert">
      <Icon of={CircleAlert} />
      <span>{error}</span>
      {retry && (
        <Button icon={RotateCw} onClick={retry}>
          {retryLabel}
        </Button>
      )}
    </div>
  );
}

interface FailedProps {
  readonly error: string;
  readonly retry?: () => void;
  readonly retryLabel?: string;
}

export function Banner({ icon = WifiOff, children }: { icon?: IconType; children: ComponentChildren }) {
  return (
    <div class="banner" role="status">
      <Icon of={icon} />
      {children}
    </div>
  );
}

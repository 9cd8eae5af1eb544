/** Short notices at the edge of the page, announced by screen readers. */
import { signal } from '@preact/signals';
import { CircleAlert, X } from 'lucide-preact';
import { Button, IconButton } from './button.js';
import { Icon } from './icon.js';

export interface Toast {
  readonly text: string;
  /** `bad`: something failed. */
  readonly tone?: 'bad';
  /** A single action, for example "Undo". */
  readonly action?: { readonly label: string; readonly run: () => void };
}

const SHOWN_MS = 6000;
const MAX_TOASTS = 4;

let lastId = 0;
const toasts = signal<readonly (Toast & { readonly id: number })[]>([]);

const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((each) => each.id !== id);
};

/** Shows a notice for six seconds; the oldest goes when there are four. */
export function toast(shown: Toast): void {
  const id = ++lastId;
  toasts.value = [...toasts.value, { ...shown, id }].slice(-MAX_TOASTS);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Removes the notices that offer this very action, once it was done in another way. */
export function dismissToasts(action: NonNullable<Toast['action']>): void {
  toasts.value = toasts.value.filter((each) => each.action !== action);
}

/** To be rendered once per page. */
export function Toasts({ dismissLabel = 'Dismiss' }: { dismissLabel?: string }) {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, action }) => (
        <div key={id} class={`toast ${tone ?? ''}`}>
          {tone === 'bad' && <Icon of={CircleAlert} />}
          <span>{text}</span>
          {action && (
            <Button
              small
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton small icon={X} label={dismissLabel} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

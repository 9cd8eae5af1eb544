/** Modal dialog on the native element, which traps focus, closes on Escape and gives focus back. */
import { X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.js';
import { FormError } from './form.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly closeLabel?: string;
  readonly children: ComponentChildren;
}

/** Open while it is rendered; `onClose` is called on Escape, the close button and, without a form, a click beside it. */
export function Dialog({ title, onClose, wide, closeLabel = 'Close', children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // In the same frame, so that no key gets to what is below it.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      // Chromium gives the focus back to a text field without its caret: typed characters would go nowhere.
      const field = document.activeElement;
      requestAnimationFrame(() => {
        if (!(field instanceof HTMLElement) || field !== document.activeElement) return;
        field.blur();
        field.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      ref={element}
      class={`dialog${wide ? ' wide' : ''}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // A form may hold text that a stray click must not discard.
        const dialog = event.currentTarget;
        if (event.target === dialog && !dialog.querySelector('form')) onClose();
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <IconButton icon={X} label={closeLabel} onClick={onClose} />
      </header>
      <div class="content">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly confirmLabel: string;
  readonly cancelLabel?: string;
  readonly danger?: boolean;
  /** The dialog stays, with the error's message, if it rejects. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog(props: ConfirmProps) {
  const { title, text, confirmLabel, cancelLabel = 'Cancel', danger = false, onConfirm, onClose } = props;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function confirm() {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <FormError error={error} />
      <div class="dialog-actions">
        <Button onClick={onClose}>{cancelLabel}</Button>
        <Button variant={danger ? 'danger' : 'main'} busy={busy} onClick={confirm}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}

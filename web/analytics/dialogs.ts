/** Dialogs with a form: prevent double submission and show errors. */
import { byId } from '../shared/dom.js';
import { errorMessage } from './api.js';

export interface FormDialog {
  readonly form: HTMLFormElement;
  field<Kind extends HTMLInputElement | HTMLTextAreaElement = HTMLInputElement>(name: string): Kind;
  open(): void;
  close(): void;
}

/** `send` runs on submit and must close the dialog itself; its errors are shown in the dialog. */
export function formDialog(name: string, send: () => Promise<void>): FormDialog {
  const dialog = byId<HTMLDialogElement>(`${name}-dialog`);
  const form = byId<HTMLFormElement>(`${name}-form`);
  const errorLine = form.querySelector<HTMLElement>('.trouble')!;
  const submit = form.querySelector<HTMLButtonElement>('button[type=submit]')!;

  function showError(message: string) {
    errorLine.textContent = message;
    errorLine.hidden = message === '';
  }

  form.onsubmit = async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    showError('');
    await send().catch((error: unknown) => showError(errorMessage(error)));
    submit.disabled = false;
  };
  form.querySelector<HTMLButtonElement>('.cancel')!.onclick = () => dialog.close();

  return {
    form,
    field: (field) => form.elements.namedItem(field) as never,
    open() {
      showError('');
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}

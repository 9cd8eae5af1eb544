/** Dialogs with a form: what is sent is sent once, and what is wrong is told in them. */
import { byId } from '../shared/dom.js';
import { errorMessage } from './api.js';

export interface FormDialog {
  readonly form: HTMLFormElement;
  field<Kind extends HTMLInputElement | HTMLTextAreaElement = HTMLInputElement>(name: string): Kind;
  open(): void;
  close(): void;
}

/** `send` runs as the form is sent; the dialog stays until it closes it, and tells of what it rejects with. */
export function formDialog(name: string, send: () => Promise<void>): FormDialog {
  const dialog = byId<HTMLDialogElement>(`${name}-dialog`);
  const form = byId<HTMLFormElement>(`${name}-form`);
  const trouble = form.querySelector<HTMLElement>('.trouble')!;
  const submit = form.querySelector<HTMLButtonElement>('button[type=submit]')!;

  function tell(what: string) {
    trouble.textContent = what;
    trouble.hidden = what === '';
  }

  form.onsubmit = async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    tell('');
    await send().catch((error: unknown) => tell(errorMessage(error)));
    submit.disabled = false;
  };
  form.querySelector<HTMLButtonElement>('.cancel')!.onclick = () => dialog.close();

  return {
    form,
    field: (field) => form.elements.namedItem(field) as never,
    open() {
      tell('');
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}

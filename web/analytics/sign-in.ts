/** Sign-in forms: request a link, use a link, or enter the admin token. */
import { byId } from '../shared/dom.js';
import { type Api, ApiError, errorMessage } from './api.js';
import type { User } from './contract.js';

export function createSignIn(api: Api, enter: (user: User) => void) {
  const errorLine = byId('sign-in-trouble');
  const [link, sentNote] = [byId<HTMLFormElement>('link-form'), byId('link-sent')];
  const confirmForm = byId<HTMLFormElement>('enter-form');
  const token = byId<HTMLFormElement>('token-form');

  function showError(message: string) {
    errorLine.textContent = message;
    errorLine.hidden = message === '';
  }

  /** Submit handler that prevents double submission and shows errors. */
  const submitHandler = (form: HTMLFormElement, action: (field: string) => Promise<void>) => async (event: Event) => {
    event.preventDefault();
    const button = form.querySelector('button')!;
    const field = String([...new FormData(form).values()][0] ?? '').trim();
    button.disabled = true;
    showError('');
    await action(field).catch((error: unknown) => showError(errorMessage(error)));
    button.disabled = false;
  };

  function showLinkForm() {
    link.hidden = false;
    sentNote.hidden = confirmForm.hidden = true;
    link.querySelector('input')!.focus();
  }

  link.onsubmit = submitHandler(link, async (email) => {
    const { message } = await api.requestLink(email);
    link.hidden = true;
    sentNote.hidden = false;
    byId('link-told').textContent = `${message}.`;
  });
  byId('link-again').onclick = showLinkForm;
  token.onsubmit = submitHandler(token, async (adminToken) => {
    api.useToken(adminToken);
    const { user } = await api.me().catch((error: unknown) => {
      api.forgetToken();
      if (error instanceof ApiError && error.status === 401) throw new ApiError(401, 'The admin token is wrong.');
      throw error;
    });
    token.reset();
    enter(user);
  });

  return {
    show(text = '') {
      showLinkForm();
      showError(text);
    },
    /** Requires a click, as mail scanners open all links they find, which would use up the link. */
    offer(email: string | null, use: () => Promise<void>) {
      link.hidden = sentNote.hidden = true;
      confirmForm.hidden = false;
      showError('');
      const button = confirmForm.querySelector('button')!;
      button.textContent = email ? `Sign in as ${email}` : 'Sign in';
      confirmForm.onsubmit = submitHandler(confirmForm, use);
      button.focus();
    },
  };
}

/** Outside: a link is asked for, or the admin token given. */
import { byId } from '../shared/dom.js';
import { type Api, ApiError, errorMessage } from './api.js';
import type { User } from './contract.js';

export function createSignIn(api: Api, enter: (user: User) => void) {
  const trouble = byId('sign-in-trouble');
  const [link, sent] = [byId<HTMLFormElement>('link-form'), byId('link-sent')];
  const entering = byId<HTMLFormElement>('enter-form');
  const token = byId<HTMLFormElement>('token-form');

  function tell(what: string) {
    trouble.textContent = what;
    trouble.hidden = what === '';
  }

  /** One at a time: what is sent twice was meant once. */
  const doing = (form: HTMLFormElement, work: (field: string) => Promise<void>) => async (event: Event) => {
    event.preventDefault();
    const button = form.querySelector('button')!;
    const field = String([...new FormData(form).values()][0] ?? '').trim();
    button.disabled = true;
    tell('');
    await work(field).catch((error: unknown) => tell(errorMessage(error)));
    button.disabled = false;
  };

  function ask() {
    link.hidden = false;
    sent.hidden = entering.hidden = true;
    link.querySelector('input')!.focus();
  }

  link.onsubmit = doing(link, async (email) => {
    const { message } = await api.askForLink(email);
    link.hidden = true;
    sent.hidden = false;
    byId('link-told').textContent = `${message}.`;
  });
  byId('link-again').onclick = ask;
  token.onsubmit = doing(token, async (given) => {
    api.useToken(given);
    const { user } = await api.me().catch((error: unknown) => {
      api.forgetToken();
      if (error instanceof ApiError && error.status === 401) throw new ApiError(401, 'That is not the admin token.');
      throw error;
    });
    token.reset();
    enter(user);
  });

  return {
    show(why = '') {
      ask();
      tell(why);
    },
    /** Only who presses the button uses the link: some who look through mail open all links that they find. */
    offer(email: string | null, use: () => Promise<void>) {
      link.hidden = sent.hidden = true;
      entering.hidden = false;
      tell('');
      const button = entering.querySelector('button')!;
      button.textContent = email ? `Sign in as ${email}` : 'Sign in';
      entering.onsubmit = doing(entering, use);
      button.focus();
    },
  };
}

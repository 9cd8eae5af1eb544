/** Forms of signing in: request a link, use a link, or enter the admin token. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Form, TextField } from '../../shared/components/form.js';
import { api } from '../api.js';
import type { SignInLink } from '../session.js';
import { signInTexts, texts } from '../texts.js';
import { signInByToken, useLink } from './commands.js';

const textOf = (values: FormData, name: string): string => String(values.get(name) ?? '').trim();

export function SignIn({ reason, link }: { reason: string; link: SignInLink | undefined }) {
  return (
    <main id="sign-in">
      <section class="card" aria-labelledby="sign-in-title">
        <p class="brand">
          <Brand />
          {location.host}
        </p>
        <h1 id="sign-in-title">{texts.title}</h1>
        {reason && (
          <p id="sign-in-trouble" class="trouble" role="alert">
            {reason}
          </p>
        )}
        {link ? <LinkForm link={link} /> : <MailForm />}
        <TokenForm />
      </section>
    </main>
  );
}

/** The mark of the page, three bars of a chart. */
export const Brand = () => (
  <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
    <rect width="32" height="32" rx="7" />
    <path d="M9 23v-6M16 23V9M23 23V13" />
  </svg>
);

/** Requires a click, as mail scanners open all links they find, which would use up the link. */
function LinkForm({ link }: { link: SignInLink }) {
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current?.querySelector('button')?.focus(), []);
  return (
    <div ref={form}>
      <Form
        submitLabel={link.email ? signInTexts.signInAs(link.email) : signInTexts.signIn}
        onSubmit={() => useLink(link)}
      >
        <p class="quiet">{signInTexts.once}</p>
      </Form>
    </div>
  );
}

function MailForm() {
  const [sent, setSent] = useState<string>();
  if (sent !== undefined)
    return (
      <div class="form">
        <p role="status" id="link-told">
          {sent}
        </p>
        <p class="quiet">{signInTexts.linkNote}</p>
        <Button onClick={() => setSent(undefined)}>{signInTexts.otherAddress}</Button>
      </div>
    );
  async function request(values: FormData) {
    const { message } = await api.requestLink(textOf(values, 'email'));
    setSent(`${message}.`);
  }
  return (
    <Form submitLabel={signInTexts.mailLink} onSubmit={request}>
      <p class="quiet">{signInTexts.linkHint}</p>
      <TextField label={signInTexts.email} name="email" type="email" required maxLength={254} autocomplete="email" />
    </Form>
  );
}

const TokenForm = () => (
  <details>
    <summary>{signInTexts.haveToken}</summary>
    <Form submitLabel={signInTexts.signIn} onSubmit={(values) => signInByToken(textOf(values, 'token'))}>
      <TextField
        label={signInTexts.token}
        hint={signInTexts.tokenHint}
        name="token"
        type="password"
        required
        autocomplete="off"
        spellcheck={false}
      />
    </Form>
  </details>
);

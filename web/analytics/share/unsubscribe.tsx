/** The page of the link in a weekly mail. Opening it does nothing yet, as mail scanners open every link. */
import { useState } from 'preact/hooks';
import { api } from '../api.js';
import { Brand } from '../sign-in/sign-in.js';
import { shareTexts, texts } from '../texts.js';
import { Action } from './action.js';

/** Token of the mail by whose link the page was opened. */
export const unsubscribeToken: string | undefined = location.pathname.endsWith('/unsubscribe')
  ? (new URLSearchParams(location.search).get('token') ?? '')
  : undefined;

export function Unsubscribe({ token }: { token: string }) {
  const [isDone, setDone] = useState(false);
  return (
    <main id="sign-in">
      <section class="card">
        <p class="brand">
          <Brand />
          {location.host}
        </p>
        <h1>{texts.title}</h1>
        {isDone && <p role="status">{shareTexts.unsubscribed}</p>}
        {token === '' && <p>{shareTexts.unsubscribeIncomplete}</p>}
        {!isDone && token !== '' && (
          <Action
            title={shareTexts.mail}
            hint={shareTexts.unsubscribeHint}
            label={shareTexts.unsubscribe}
            run={async () => {
              await api.unsubscribeByLink(token);
              setDone(true);
            }}
          />
        )}
      </section>
    </main>
  );
}

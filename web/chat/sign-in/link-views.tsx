/** Views of what the address brought: confirm a sign-in link, set a password, take over tokens. */
import { ApiError } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { Form } from '../../shared/components/form.js';
import { beginSession, session, userOf } from '../session.js';
import { signInTexts as texts } from '../texts/sign-in.js';
import { lastEmail, setPassword, signInWithLink } from './commands.js';
import { declineEntry } from './entry.js';
import { Frame } from './frame.js';
import { NewPassword, useNewPassword } from './new-password.js';
import type { Entry } from './read-entry.js';

type Link = Extract<Entry, { kind: 'link' | 'set-password' }>;
type Tokens = Extract<Entry, { kind: 'tokens' }>;

/** Replaces the service's message about a token that does not work any more by one that says what to do. */
function explainToken(error: unknown, status: number, text: string): never {
  throw error instanceof ApiError && error.status === status && !/password/i.test(error.message)
    ? new ApiError(text, error.status)
    : error;
}

const OtherUser = () => {
  const user = session.value?.user;
  return user ? <p class="quiet">{texts.otherUser(user.userName)}</p> : null;
};

/** Takes a click, as mail scanners open the links they find, which would use them up. */
export const LinkView = ({ token, email }: Link) => (
  <Frame title={email ? texts.linkTitleFor(email) : texts.linkTitle} text={texts.linkConfirm}>
    <OtherUser />
    <Form
      submitLabel={texts.signIn}
      cancelLabel={texts.cancel}
      onCancel={declineEntry}
      onSubmit={async () => {
        await signInWithLink(token, email).catch((error) => explainToken(error, 401, texts.linkRefused));
        declineEntry();
      }}
    >
      {null}
    </Form>
  </Frame>
);

export function SetPasswordView({ token, email }: Link) {
  const { differs, check } = useNewPassword();
  return (
    <Frame title={texts.setTitle} text={email}>
      <OtherUser />
      <Form
        submitLabel={texts.setPassword}
        cancelLabel={texts.cancel}
        onCancel={declineEntry}
        onSubmit={async (values) => {
          const password = check(values);
          if (password === undefined) return;
          await setPassword(token, email, password).catch((error) => explainToken(error, 400, texts.setRefused));
          declineEntry();
        }}
      >
        {/* For password managers. */}
        <input hidden readonly name="email" autocomplete="username" value={email ?? lastEmail.get()} />
        <NewPassword differs={differs} />
      </Form>
    </Frame>
  );
}

export function TokensView({ tokens }: Tokens) {
  function accept() {
    beginSession(tokens);
    declineEntry();
  }
  return (
    <Frame title={texts.tokensTitle(userOf(tokens.accessToken).userName)} text={texts.tokensConfirm}>
      <OtherUser />
      <div class="sign-in-actions">
        <Button onClick={declineEntry}>{texts.cancel}</Button>
        <Button variant="main" onClick={accept}>
          {texts.continue}
        </Button>
      </div>
    </Frame>
  );
}

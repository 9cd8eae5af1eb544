/** Sign-in with the API token, or with a username and a password, as the service is configured. */
import { useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Form, TextField } from '../../shared/components/form.js';
import { texts } from '../texts.js';
import { access, basic, bearer, signIn } from './session.js';

type Method = 'token' | 'password';

export function SignIn() {
  const { value } = access;
  const [chosen, choose] = useState<Method>();
  if (value.kind !== 'signed out') return null;
  const method = chosen ?? (value.bearer ? 'token' : 'password');
  return (
    <main class="sign-in">
      <div class="card">
        <h1>{texts.signIn.title}</h1>
        {value.ended && (
          <p class="trouble" role="status">
            {texts.signIn.ended}
          </p>
        )}
        {value.bearer && value.basic && <Methods method={method} choose={choose} />}
        <Form key={method} submitLabel={texts.signIn.submit} onSubmit={(values) => submit(method, values)}>
          {method === 'token' ? <TokenField /> : <PasswordFields />}
        </Form>
      </div>
    </main>
  );
}

async function submit(method: Method, values: FormData): Promise<void> {
  const text = (name: string) => String(values.get(name) ?? '').trim();
  const credentials =
    method === 'token' ? bearer(text('token')) : basic(text('username'), String(values.get('password')));
  try {
    if (await signIn(credentials)) return;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) throw new ApiError(texts.signIn.producerToken, 403);
    throw error;
  }
  throw new ApiError(method === 'token' ? texts.signIn.wrongToken : texts.signIn.wrongPassword, 401);
}

function Methods({ method, choose }: { method: Method; choose: (method: Method) => void }) {
  const names = { token: texts.signIn.withToken, password: texts.signIn.withPassword };
  return (
    <fieldset class="segments">
      <legend class="unseen">{texts.signIn.method}</legend>
      {(['token', 'password'] as const).map((each) => (
        <button key={each} type="button" aria-pressed={each === method} onClick={() => choose(each)}>
          {names[each]}
        </button>
      ))}
    </fieldset>
  );
}

const TokenField = () => (
  <TextField
    label={texts.signIn.token}
    hint={texts.signIn.tokenHint}
    name="token"
    type="password"
    autocomplete="current-password"
    spellcheck={false}
    required
    autoFocus
  />
);

const PasswordFields = () => (
  <>
    <TextField label={texts.signIn.username} name="username" autocomplete="username" required autoFocus />
    <TextField
      label={texts.signIn.password}
      hint={texts.signIn.passwordHint}
      name="password"
      type="password"
      autocomplete="current-password"
      required
    />
  </>
);

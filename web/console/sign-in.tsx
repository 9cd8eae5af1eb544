/** Asks for the token of the operations port. */
import { Form, TextField } from '../shared/components/form.js';
import { signIn } from './session.js';
import { texts } from './texts.js';

export const SignIn = () => (
  <main class="sign-in">
    <div class="card">
      <h1>{texts.signIn.title}</h1>
      <Form submitLabel={texts.signIn.submit} onSubmit={(values) => signIn(String(values.get('token')).trim())}>
        <TextField
          label={texts.signIn.token}
          hint={texts.signIn.hint}
          name="token"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          autoFocus
        />
      </Form>
    </div>
  </main>
);

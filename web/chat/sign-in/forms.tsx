/** The forms of the three modes, of registering and of asking for a new password. */
import { Form, TextField } from '../../shared/components/form.js';
import { signInTexts as texts } from '../texts/sign-in.js';
import { lastEmail, register, requestLink, requestReset, signInWithEmail, signInWithPassword } from './commands.js';
import { NewPassword, useNewPassword } from './new-password.js';
import { PasswordField } from './password-field.js';

/** The admin that a server makes at its first start. */
const FIRST_ADMIN = 'admin@localhost';

const emailOf = (values: FormData) => String(values.get('email')).trim();

const EmailField = ({ initial = lastEmail.get() }: { initial?: string }) => (
  <TextField
    label={texts.email}
    name="email"
    type="email"
    required
    autocomplete="username"
    autocapitalize="none"
    spellcheck={false}
    defaultValue={initial}
  />
);

export const DevForm = () => (
  <Form submitLabel={texts.signIn} onSubmit={(values) => signInWithEmail(emailOf(values))}>
    <EmailField initial={lastEmail.get() || FIRST_ADMIN} />
  </Form>
);

/** `onSent` receives the email after the mail was requested. */
export const LinkForm = ({ onSent }: { onSent: (email: string) => void }) => (
  <Form
    submitLabel={texts.sendLink}
    onSubmit={async (values) => {
      await requestLink(emailOf(values));
      onSent(emailOf(values));
    }}
  >
    <EmailField />
  </Form>
);

export const PasswordForm = () => (
  <Form
    submitLabel={texts.signIn}
    onSubmit={(values) => signInWithPassword(emailOf(values), String(values.get('password')))}
  >
    <EmailField />
    <PasswordField name="password" label={texts.password} />
  </Form>
);

export function RegisterForm() {
  const { differs, check } = useNewPassword();
  return (
    <Form
      submitLabel={texts.join}
      onSubmit={async (values) => {
        const password = check(values);
        if (password !== undefined) await register(emailOf(values), password);
      }}
    >
      <EmailField initial="" />
      <NewPassword label={texts.password} differs={differs} />
    </Form>
  );
}

export const ResetForm = ({ onSent }: { onSent: (email: string) => void }) => (
  <Form
    submitLabel={texts.sendLink}
    onSubmit={async (values) => {
      await requestReset(emailOf(values));
      onSent(emailOf(values));
    }}
  >
    <EmailField />
  </Form>
);

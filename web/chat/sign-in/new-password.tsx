/** Two fields for a new password that must be the same. */
import { useState } from 'preact/hooks';
import { signInTexts as texts } from '../texts/sign-in.js';
import { PasswordField } from './password-field.js';

/** A new password, as `passwordOf` reads it from the form. */
export function NewPassword({ label = texts.newPassword, differs }: { label?: string; differs: boolean }) {
  return (
    <>
      <PasswordField name="password" label={label} hint={texts.passwordHint} isNew />
      <PasswordField
        name="repeated"
        label={texts.repeatPassword}
        error={differs ? texts.passwordsDiffer : undefined}
        isNew
      />
    </>
  );
}

/** State of a form with a new password: `check` returns the password, or undefined if the fields differ. */
export function useNewPassword() {
  const [differs, setDiffers] = useState(false);
  return {
    differs,
    check(values: FormData): string | undefined {
      const [password, repeated] = [String(values.get('password')), String(values.get('repeated'))];
      setDiffers(password !== repeated);
      return password === repeated ? password : undefined;
    },
  };
}

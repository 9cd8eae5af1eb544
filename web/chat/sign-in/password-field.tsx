/** Password fields: with a button that shows what is typed, and a pair for a new password. */
import { Eye, EyeOff } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { Field } from '../../shared/components/form.js';
import { signInTexts as texts } from '../texts/sign-in.js';

export const PASSWORD_MIN = 8;
const PASSWORD_MAX = 1024;

interface PasswordFieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  /** Whether the password is chosen here, so that password managers offer one. */
  readonly isNew?: boolean;
  readonly autofocus?: boolean;
  readonly onInput?: () => void;
}

export function PasswordField({ name, label, hint, error, isNew, autofocus, onInput }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint ?? ''} error={error}>
      {(attributes) => (
        <span class="password-field">
          <input
            {...attributes}
            name={name}
            type={isShown ? 'text' : 'password'}
            required
            {...(isNew && { minLength: PASSWORD_MIN })}
            maxLength={PASSWORD_MAX}
            autocomplete={isNew ? 'new-password' : 'current-password'}
            autocapitalize="none"
            spellcheck={false}
            autofocus={autofocus ?? false}
            onInput={() => onInput?.()}
          />
          <IconButton
            small
            icon={isShown ? EyeOff : Eye}
            label={isShown ? texts.hidePassword : texts.showPassword}
            onClick={() => setShown(!isShown)}
          />
        </span>
      )}
    </Field>
  );
}

/** A password that an admin chooses for somebody else: shown, as it is to be passed on, with a button that makes one up. */
import { useRef } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Field } from '../../shared/components/form.js';
import { PASSWORD_MIN } from '../sign-in/password-field.js';
import { adminTexts } from '../texts/admin.js';

/** Without those that look alike. 32 of them, so that each random byte gives one evenly. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const [GROUPS, GROUP_LENGTH] = [4, 4];

/** 80 random bits as `xxxx-xxxx-xxxx-xxxx`. */
export function randomPassword(): string {
  const group = () =>
    [...crypto.getRandomValues(new Uint8Array(GROUP_LENGTH))].map((byte) => CHARACTERS[byte % 32]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

interface PlainPasswordProps {
  readonly label: string;
  readonly hint: string;
  readonly required?: boolean;
}

export function PlainPassword({ label, hint, required = false }: PlainPasswordProps) {
  const input = useRef<HTMLInputElement>(null);
  function generate() {
    if (!input.current) return;
    input.current.value = randomPassword();
    input.current.select();
  }
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <span class="plain-password">
          <input
            {...attributes}
            ref={input}
            name="password"
            required={required}
            minLength={PASSWORD_MIN}
            maxLength={1024}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
          <Button onClick={generate}>{adminTexts.members.generate}</Button>
        </span>
      )}
    </Field>
  );
}

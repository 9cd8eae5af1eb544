/** A new password of one's own: by a mailed link, or, for admins of servers without mail, here. */
import { useState } from 'preact/hooks';
import { Form, TextField } from '../../shared/components/form.js';
import { http } from '../api.js';
import { endSession } from '../session.js';
import type { SectionProps } from '../settings/sections.js';
import { lastEmail, requestReset } from '../sign-in/commands.js';
import { NewPassword, useNewPassword } from '../sign-in/new-password.js';
import { settingsTexts } from '../texts/settings.js';
import { signInTexts } from '../texts/sign-in.js';

const texts = settingsTexts.password;

export function PasswordSection({ user, config }: SectionProps) {
  if (config.passwordResetEnabled) return <ByMail />;
  return user.isAdmin ? <ByAdmin id={user.id} /> : <p class="quiet">{texts.askAdmin}</p>;
}

function ByMail() {
  const [email, setEmail] = useState<string>();
  return (
    <div class="settings-part">
      <p class="quiet">{texts.hint}</p>
      <Form
        submitLabel={texts.send}
        onSubmit={async (values) => {
          const entered = String(values.get('email')).trim();
          await requestReset(entered);
          setEmail(entered);
        }}
      >
        <TextField label={signInTexts.email} name="email" type="email" required defaultValue={lastEmail.get()} />
      </Form>
      <p role="status">{email && texts.sent(email)}</p>
    </div>
  );
}

function ByAdmin({ id }: { id: string }) {
  const { differs, check } = useNewPassword();
  return (
    <div class="settings-part">
      <p class="quiet">{texts.adminHint}</p>
      <Form
        submitLabel={texts.set}
        onSubmit={async (values) => {
          const password = check(values);
          if (password === undefined) return;
          await http.send('POST', `users/${encodeURIComponent(id)}/reset-password`, { body: { password } });
          endSession('signed-out');
        }}
      >
        <NewPassword differs={differs} />
      </Form>
    </div>
  );
}

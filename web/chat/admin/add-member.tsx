/** Adding a member: by an invitation mail where the server sends mail, else with a first password. */
import { Dialog } from '../../shared/components/dialog.js';
import { Form, SelectField, TextField } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import { http } from '../api.js';
import { useCommandKey } from '../settings/use-command-key.js';
import type { SignInConfig } from '../sign-in/config.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { PlainPassword } from './plain-password.js';

const texts = adminTexts.members;

interface AddMemberProps {
  readonly config: SignInConfig;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

export function AddMember({ config: { mode, hasEmail }, onClose, onAdded }: AddMemberProps) {
  const keyOf = useCommandKey();
  async function add(values: FormData) {
    const email = String(values.get('email')).trim();
    const password = String(values.get('password') ?? '');
    const body = { email, role: values.get('role'), ...(password && { password }) };
    const options = { body, idempotencyKey: keyOf(body) };
    const { message } = await http.json<{ message?: string }>('POST', 'users/add', options);
    toast({ text: message ?? (hasEmail && !password ? texts.invited(email) : texts.added(email)) });
    onAdded();
    onClose();
  }
  return (
    <Dialog title={texts.add} onClose={onClose}>
      <Form submitLabel={texts.addLabel} cancelLabel={settingsTexts.cancel} onCancel={onClose} onSubmit={add}>
        <TextField
          label={texts.email}
          hint={mode === 'password' ? '' : hasEmail ? texts.inviteHint : texts.noMailHint}
          name="email"
          type="email"
          required
          autocomplete="off"
        />
        <SelectField label={texts.role} name="role">
          <option value="user">{settingsTexts.member}</option>
          <option value="admin">{settingsTexts.admin}</option>
        </SelectField>
        {mode === 'password' && (
          <PlainPassword
            label={texts.addPassword}
            hint={hasEmail ? texts.addPasswordOptional : texts.addPasswordHint}
          />
        )}
      </Form>
    </Dialog>
  );
}

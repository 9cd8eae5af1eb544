/** The own name and role, signing out, and leaving the server. */
import { LogOut } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { ConfirmDialog } from '../../shared/components/dialog.js';
import { Form, TextField } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import { http } from '../api.js';
import { endSession, signOut, type User, updateUser } from '../session.js';
import type { SectionProps } from '../settings/sections.js';
import { settingsTexts } from '../texts/settings.js';

const texts = settingsTexts.profile;

async function rename(values: FormData): Promise<void> {
  const { user } = await http.json<{ user: User }>('PUT', 'users/me', { body: { userName: values.get('userName') } });
  updateUser(user);
  toast({ text: settingsTexts.saved });
}

async function leave(): Promise<void> {
  await http.send('POST', 'users/exit', { body: {} });
  endSession('left');
}

/** Signs out, with a notice if the service could not be told. */
export const signOutWithNotice = (): Promise<void> =>
  signOut().catch(() => toast({ text: texts.signOutFailed, tone: 'bad' }));

export function ProfileSection({ user }: SectionProps) {
  const [isLeaving, setLeaving] = useState(false);
  return (
    <>
      <div class="settings-part">
        <Form submitLabel={settingsTexts.save} onSubmit={rename}>
          <TextField
            label={texts.name}
            hint={texts.nameHint}
            name="userName"
            required
            maxLength={64}
            autocomplete="nickname"
            defaultValue={user.userName}
          />
        </Form>
        <p class="quiet">
          {texts.role}: {user.isAdmin ? texts.adminRole : texts.memberRole}
        </p>
      </div>
      <div class="settings-part">
        <Button icon={LogOut} onClick={signOutWithNotice}>
          {texts.signOut}
        </Button>
        <p class="quiet">{texts.signOutHint}</p>
      </div>
      <div class="settings-part">
        <Button variant="danger" onClick={() => setLeaving(true)}>
          {texts.leave}
        </Button>
        <p class="quiet">{texts.leaveHint}</p>
      </div>
      {isLeaving && (
        <ConfirmDialog
          title={texts.leaveTitle}
          text={texts.leaveText}
          confirmLabel={texts.leave}
          cancelLabel={settingsTexts.cancel}
          danger
          onConfirm={leave}
          onClose={() => setLeaving(false)}
        />
      )}
    </>
  );
}

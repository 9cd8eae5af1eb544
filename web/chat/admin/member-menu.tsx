/** What an admin can do for a member: role, password, removal. */
import { Copy, KeyRound, ShieldCheck, ShieldOff, UserX } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { copyText } from '../../shared/components/copy-button.js';
import { ConfirmDialog, Dialog } from '../../shared/components/dialog.js';
import { Form } from '../../shared/components/form.js';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import { toast } from '../../shared/components/toasts.js';
import { http } from '../api.js';
import { endSession, updateUser } from '../session.js';
import type { SignInConfig } from '../sign-in/config.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import type { Member } from './directory.js';
import { PlainPassword } from './plain-password.js';

const texts = adminTexts.members;

interface MemberMenuProps {
  readonly member: Member;
  readonly isSelf: boolean;
  readonly config: SignInConfig;
  readonly reload: () => Promise<void>;
}

export function MemberMenu({ member, isSelf, config, reload }: MemberMenuProps) {
  const [dialog, setDialog] = useState<'password' | 'remove' | 'demote'>();
  const { id, userName, isAdmin } = member;
  const path = `users/${encodeURIComponent(id)}`;
  const close = () => setDialog(undefined);

  async function changeRole() {
    await http.send('PUT', `${path}/role`, { body: { role: isAdmin ? 'user' : 'admin' } });
    toast({ text: texts.roleChanged(userName, !isAdmin) });
    if (isSelf) updateUser({ isAdmin: !isAdmin });
    else await reload();
  }

  /** Asks first before admins take the role from themselves: they could not give it back. */
  function chooseRole() {
    if (isSelf) return setDialog('demote');
    changeRole().catch((error: unknown) => toast({ text: messageOf(error), tone: 'bad' }));
  }

  async function remove() {
    await http.send('DELETE', path);
    if (isSelf) return endSession('left');
    toast({ text: texts.removed(userName) });
    await reload();
  }

  const items = (): readonly MenuEntry[] => [
    isAdmin
      ? { label: texts.makeMember, icon: ShieldOff, run: chooseRole }
      : { label: texts.makeAdmin, icon: ShieldCheck, run: chooseRole },
    ...(config.mode === 'password'
      ? [{ label: texts.setPassword, icon: KeyRound, run: () => setDialog('password') }]
      : []),
    { label: texts.copyId, icon: Copy, run: () => void copyText(id).then(() => toast({ text: settingsTexts.copied })) },
    'separator',
    { label: texts.remove, icon: UserX, danger: true, run: () => setDialog('remove') },
  ];

  return (
    <>
      <Menu label={texts.actions(userName)} items={items} />
      {dialog === 'remove' && (
        <ConfirmDialog
          title={texts.removeTitle(userName)}
          text={texts.removeText}
          confirmLabel={settingsTexts.remove}
          cancelLabel={settingsTexts.cancel}
          danger
          onConfirm={remove}
          onClose={close}
        />
      )}
      {dialog === 'demote' && (
        <ConfirmDialog
          title={texts.demoteTitle}
          text={texts.demoteText}
          confirmLabel={texts.makeMember}
          cancelLabel={settingsTexts.cancel}
          danger
          onConfirm={changeRole}
          onClose={close}
        />
      )}
      {dialog === 'password' && <PasswordDialog member={member} path={path} onClose={close} />}
    </>
  );
}

function PasswordDialog({ member, path, onClose }: { member: Member; path: string; onClose: () => void }) {
  async function set(values: FormData) {
    await http.send('POST', `${path}/reset-password`, { body: { password: values.get('password') } });
    toast({ text: texts.passwordSet(member.userName) });
    onClose();
  }
  return (
    <Dialog title={texts.passwordTitle(member.userName)} onClose={onClose}>
      <Form submitLabel={texts.setPassword} cancelLabel={settingsTexts.cancel} onCancel={onClose} onSubmit={set}>
        <PlainPassword label={texts.addPassword} hint={texts.passwordHint} required />
      </Form>
    </Dialog>
  );
}

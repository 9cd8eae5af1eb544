/** The user's own menu: status, settings, notices, keys, sign-out. */
import { Bell, BellOff, ChevronsUpDown, CircleCheck, Clock, Keyboard, LogOut, Settings, Shield } from 'lucide-preact';
import { messageOf } from '../../shared/api/http.js';
import { Avatar } from '../../shared/components/avatar.js';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import { toast } from '../../shared/components/toasts.js';
import type { Status } from '../contract.js';
import { signOut } from '../session.js';
import { openSettings } from '../settings-route.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';
import { StatusDot } from './status-dot.js';

export function OwnMenu() {
  const workspace = useWorkspace();
  const { store, user } = workspace;
  const name = store.users.value.get(user.id)?.userName ?? user.userName;
  return (
    <footer class="own">
      <Menu label={texts.ownMenu} placement="top-start" items={() => entriesOf(workspace)}>
        <span class="own-face">
          <Avatar id={user.id} name={name} />
          <StatusDot userId={user.id} />
        </span>
        <span class="name">{name}</span>
        <span class="unseen">{texts.ownMenu}</span>
        <ChevronsUpDown class="icon" aria-hidden="true" />
      </Menu>
    </footer>
  );
}

function entriesOf({ store, actions, notices, overlay, sending, user }: Workspace): readonly MenuEntry[] {
  const current = store.state.peek().presence.get(user.id)?.status;
  const failed = (error: unknown) => toast({ tone: 'bad', text: messageOf(error) });
  const status = (value: Status, label: string, icon: typeof Clock): MenuEntry => ({
    label,
    icon,
    checked: current === value,
    run: () => void actions.setStatus(value).catch(failed),
  });
  const isOn = notices.isOn.peek();
  const permission = notices.permission.peek();
  const notice: MenuEntry = {
    label: permission === 'denied' ? texts.noticesBlocked : texts.notices,
    icon: isOn ? Bell : BellOff,
    checked: isOn,
    disabled: permission === 'denied' || permission === 'unsupported',
    run: () => void notices.setOn(!isOn),
  };
  function leave() {
    // Signing out removes what this browser keeps for the user.
    if (sending.outbox.peek().length > 0) overlay.value = { kind: 'sign-out' };
    else void signOut().catch(failed);
  }
  return [
    status('online', texts.beOnline, CircleCheck),
    status('away', texts.beAway, Clock),
    'separator',
    notice,
    {
      label: texts.shortcuts,
      icon: Keyboard,
      run: () => {
        overlay.value = { kind: 'shortcuts' };
      },
    },
    { label: texts.account, icon: Settings, run: () => openSettings('account') },
    ...(user.isAdmin ? [{ label: texts.administration, icon: Shield, run: () => openSettings('admin') }] : []),
    'separator',
    { label: texts.signOut, icon: LogOut, run: leave },
  ];
}

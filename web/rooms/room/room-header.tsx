/** Title, who is here, time left, and the actions of a room. */
import { useSignal } from '@preact/signals';
import {
  ArrowLeft,
  Bell,
  Eye,
  Flame,
  KeyRound,
  LockKeyhole,
  LogOut,
  PenLine,
  Timer,
  Type,
  UserPlus,
  Users,
} from 'lucide-preact';
import { useEffect } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Menu } from '../../shared/components/menu.js';
import { toast } from '../../shared/components/toasts.js';
import { navigate } from '../../shared/route.js';
import { isPresent } from '../conversation.js';
import { texts } from '../texts.js';
import { type DialogName, useRoom } from './context.js';
import { isNotifying, toggleNotifications } from './notifications.js';

const words = texts.room;

export function RoomHeader() {
  const { session, panel, dialog } = useRoom();
  const conversation = session.conversation.value;
  const { title, members } = conversation;
  const isExcluded = session.isExcluded.value;
  const here = [...members.keys()].filter((id) => isPresent(conversation, id)).length;
  const show = (name: DialogName) => () => {
    dialog.value = name;
  };
  const toggle = (name: 'people' | 'server') => () => {
    panel.value = panel.value === name ? undefined : name;
  };
  return (
    <header class="room-header">
      <IconButton icon={ArrowLeft} label={words.back} onClick={() => navigate('#/')} />
      <div class="room-title">
        <h1 title={title}>{title || words.untitled}</h1>
        <p class="quiet">
          <Icon of={LockKeyhole} />
          <span class="wide-only">{words.encrypted} · </span>
          {here > 1 ? words.people(here) : words.alone}
        </p>
      </div>
      <Countdown />
      <Button variant="main" small icon={UserPlus} disabled={isExcluded} onClick={show('invite')}>
        {words.invite}
      </Button>
      <IconButton
        icon={Users}
        label={words.peopleButton}
        pressed={panel.value === 'people'}
        onClick={toggle('people')}
      />
      <IconButton icon={Eye} label={words.serverButton} pressed={panel.value === 'server'} onClick={toggle('server')} />
      <Menu
        label={words.menu}
        items={() => [
          { label: words.rename, icon: PenLine, disabled: isExcluded, run: show('rename') },
          { label: words.retitle, icon: Type, disabled: isExcluded, run: show('retitle') },
          { label: words.rotate, icon: KeyRound, disabled: isExcluded, run: show('rotate') },
          {
            label: texts.notifications.toggle,
            icon: Bell,
            checked: isNotifying(),
            run: () => void toggleNotifications(),
          },
          'separator',
          { label: words.forget, icon: LogOut, run: show('forget') },
          { label: words.burn, icon: Flame, danger: true, run: show('burn') },
        ]}
      />
    </header>
  );
}

const WARNINGS_MS = [300_000, 60_000];
const SOON_MS = 300_000;

/** Ends the room in this tab when its time is up, with or without a connection. */
function Countdown() {
  const { session } = useRoom();
  const remaining = () => session.expiresAt.value - session.clockOffset.value - Date.now();
  const left = useSignal(remaining());
  useEffect(() => {
    const timer = setInterval(() => {
      const before = left.value;
      left.value = remaining();
      const passed = WARNINGS_MS.find((warning) => before > warning && left.value <= warning);
      if (passed) toast({ text: words.ending(passed) });
      // Before the service has said its time, a wrong clock of this device would remove the keys.
      if (left.value <= 0 && session.isLoaded.value) session.expire();
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class={`countdown${left.value < SOON_MS ? ' soon' : ''}`} role="timer" title={words.timeLeftLong(left.value)}>
      <Icon of={Timer} />
      <span class="unseen">{words.timeLeftLong(left.value)}</span>
      <span aria-hidden="true">{words.timeLeft(left.value)}</span>
    </span>
  );
}

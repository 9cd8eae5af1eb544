/** Menu of everything that is done seldom, and of what has no room in the bar of a phone. */
import {
  Circle,
  CircleStop,
  Ellipsis,
  GalleryVertical,
  Keyboard,
  KeyRound,
  LayoutGrid,
  Link,
  Lock,
  LockOpen,
  Maximize,
  MicOff,
  Minimize,
  ScreenShare,
  ScreenShareOff,
  Settings2,
  SmilePlus,
  Users,
} from 'lucide-preact';
import { Menu, type MenuEntry, type MenuItem } from '../../shared/components/menu.js';
import { isDeviceDialogOpen } from '../devices/device-dialog.js';
import { canShareScreen, screen } from '../media/screen.js';
import { send } from '../meeting/connection.js';
import { copyWithNotice } from '../meeting/copy.js';
import { meetingLink } from '../meeting/link.js';
import { togglePanel } from '../meeting/panel.js';
import { isModerating, me, room, ticket } from '../meeting/state.js';
import { toggleScreen } from '../meeting/switches.js';
import { isSpeakerView, pinned } from '../stage/layout.js';
import { texts } from '../texts.js';
import { isReacting } from './reaction-bar.js';
import { isShortcutDialogOpen } from './shortcuts.js';

const { controls: words, header } = texts;

/** What a narrow bar leaves out; the same width is in `controls.css`. */
const narrow = matchMedia('(width < 40rem)');

function narrowItems(): readonly MenuEntry[] {
  if (!narrow.matches) return [];
  const isSharing = screen.value !== undefined;
  const share: MenuItem = {
    label: isSharing ? words.stopSharing : words.share,
    icon: isSharing ? ScreenShareOff : ScreenShare,
    run: () => void toggleScreen(),
  };
  return [
    { label: words.people, icon: Users, run: () => togglePanel('people') },
    { label: words.react, icon: SmilePlus, run: () => (isReacting.value = true) },
    ...(canShareScreen ? [share] : []),
    'separator',
  ];
}

function moderatorItems(): readonly MenuEntry[] {
  if (!isModerating.value) return [];
  const { isLocked, recordingBy, people } = room.value;
  const own = me.value ?? '';
  const isRecording = recordingBy !== undefined;
  const unmuted = [...people].filter(([id, { isMuted }]) => id !== own && !isMuted);
  return [
    {
      label: isLocked ? words.unlock : words.lock,
      icon: isLocked ? LockOpen : Lock,
      run: () => send({ type: isLocked ? 'room-unlocked' : 'room-locked' }),
    },
    {
      label: isRecording ? words.endRecording : words.record,
      icon: isRecording ? CircleStop : Circle,
      run: () =>
        send(
          isRecording ? { type: 'recording-stopped', stoppedBy: own } : { type: 'recording-started', startedBy: own },
        ),
    },
    {
      label: words.muteAll,
      icon: MicOff,
      disabled: unmuted.length === 0,
      run: () => {
        for (const [targetId] of unmuted) if (!send({ type: 'moderator-action', targetId, action: 'mute' })) return;
      },
    },
    'separator',
  ];
}

function viewItems(): readonly MenuEntry[] {
  const isFull = document.fullscreenElement !== null;
  const fullScreen: MenuItem = {
    label: isFull ? words.endFullScreen : words.fullScreen,
    icon: isFull ? Minimize : Maximize,
    run: () => void (isFull ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => {}),
  };
  return [
    {
      label: isSpeakerView.value ? words.grid : words.speaker,
      icon: isSpeakerView.value ? LayoutGrid : GalleryVertical,
      run: () => {
        pinned.value = undefined;
        isSpeakerView.value = !isSpeakerView.value;
      },
    },
    ...(document.fullscreenEnabled ? [fullScreen] : []),
    'separator',
  ];
}

function otherItems(): readonly MenuEntry[] {
  const { creatorToken } = ticket.value ?? {};
  const token: MenuItem = {
    label: header.creatorToken,
    icon: KeyRound,
    run: () => copyWithNotice(creatorToken ?? '', header.creatorTokenCopied),
  };
  return [
    { label: header.copyLink, icon: Link, run: () => copyWithNotice(meetingLink(), header.linkCopied) },
    ...(creatorToken ? [token] : []),
    { label: texts.devices.settings, icon: Settings2, run: () => (isDeviceDialogOpen.value = true) },
    { label: words.shortcuts, icon: Keyboard, run: () => (isShortcutDialogOpen.value = true) },
  ];
}

export const MoreMenu = () => (
  <span class="more">
    <Menu
      icon={Ellipsis}
      label={words.more}
      placement="top-end"
      items={() => [...narrowItems(), ...moderatorItems(), ...viewItems(), ...otherItems()]}
    />
  </span>
);

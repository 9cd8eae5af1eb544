/** The meeting: header, stage, one panel beside it, and the controls. */
import { WifiOff } from 'lucide-preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../shared/components/icon.js';
import { ControlBar } from '../controls/control-bar.js';
import { ShortcutDialog } from '../controls/shortcuts.js';
import { DeviceDialog } from '../devices/device-dialog.js';
import { Sound, SoundBlocked } from '../media/sound.js';
import { ChatPanel } from '../messages/chat-panel.js';
import { PeoplePanel } from '../people/people-panel.js';
import { RemoveDialog } from '../people/person-menu.js';
import { KnockNote, RejectDialog } from '../people/waiting.js';
import { Stage } from '../stage/stage.js';
import { Header } from './header.js';
import { showInAddress } from './link.js';
import { panel } from './panel.js';
import { state } from './state.js';
import { holdWakeLock } from './wake-lock.js';

export function MeetingView() {
  useEffect(showInAddress, []);
  useEffect(holdWakeLock, []);
  const { trouble } = state.value;
  return (
    <main class="meeting" data-panel={panel.value}>
      <Header />
      <div class="notes" aria-live="polite">
        {trouble && (
          <div class="banner">
            <Icon of={WifiOff} />
            {trouble}
          </div>
        )}
        <SoundBlocked />
        <KnockNote />
      </div>
      <Stage />
      {panel.value === 'people' && <PeoplePanel />}
      {panel.value === 'chat' && <ChatPanel />}
      <ControlBar />
      <Sound />
      <RemoveDialog />
      <RejectDialog />
      <DeviceDialog />
      <ShortcutDialog />
    </main>
  );
}

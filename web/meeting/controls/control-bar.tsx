/** Our controls at the lower edge, in reach of the thumb on a phone. */
import {
  Hand,
  LogOut,
  MessageSquare,
  Mic,
  MicOff,
  ScreenShare,
  ScreenShareOff,
  SmilePlus,
  Users,
  Video,
  VideoOff,
} from 'lucide-preact';
import { canShareScreen, screen } from '../media/screen.js';
import { leave } from '../meeting/meeting.js';
import { panel, togglePanel } from '../meeting/panel.js';
import { isModerating, room, self } from '../meeting/state.js';
import {
  isCameraOn,
  isMicrophoneOn,
  switchCamera,
  switchMicrophone,
  toggleHand,
  toggleScreen,
} from '../meeting/switches.js';
import { unread } from '../messages/timeline.js';
import { texts } from '../texts.js';
import { ControlButton } from './control-button.js';
import { DeviceMenu } from './device-menu.js';
import { MoreMenu } from './more-menu.js';
import { isReacting, ReactionBar } from './reaction-bar.js';

const { controls: words } = texts;

export const ControlBar = () => (
  <footer class="controls">
    <ReactionBar />
    <div role="toolbar" aria-label={words.label}>
      <Microphone />
      <Camera />
      <Share />
      <HandButton />
      <ControlButton
        class="wide"
        icon={SmilePlus}
        label={words.react}
        aria-expanded={isReacting.value}
        onClick={() => (isReacting.value = !isReacting.value)}
      />
      <span class="gap" />
      <People />
      <Chat />
      <MoreMenu />
      <ControlButton class="leave" icon={LogOut} label={words.leave} onClick={leave} />
    </div>
  </footer>
);

function Microphone() {
  const isOn = isMicrophoneOn.value;
  return (
    <span class="pair">
      <ControlButton
        icon={isOn ? Mic : MicOff}
        isOff={!isOn}
        label={isOn ? words.mute : words.unmute}
        onClick={() => void switchMicrophone(!isOn)}
      />
      <DeviceMenu kind="audioinput" label={texts.devices.microphone} />
    </span>
  );
}

function Camera() {
  const isOn = isCameraOn.value;
  return (
    <span class="pair">
      <ControlButton
        icon={isOn ? Video : VideoOff}
        isOff={!isOn}
        label={isOn ? words.cameraOff : words.cameraOn}
        onClick={() => void switchCamera(!isOn)}
      />
      <DeviceMenu kind="videoinput" label={texts.devices.camera} />
    </span>
  );
}

function Share() {
  if (!canShareScreen) return null;
  const isSharing = screen.value !== undefined;
  return (
    <ControlButton
      class="wide"
      icon={isSharing ? ScreenShareOff : ScreenShare}
      isActive={isSharing}
      label={isSharing ? words.stopSharing : words.share}
      onClick={() => void toggleScreen()}
    />
  );
}

function HandButton() {
  const isRaised = self.value?.isHandRaised ?? false;
  return (
    <ControlButton
      icon={Hand}
      isActive={isRaised}
      label={isRaised ? words.lowerHand : words.raiseHand}
      onClick={toggleHand}
    />
  );
}

function People() {
  const { people, waiting } = room.value;
  const count = isModerating.value ? waiting.size : 0;
  return (
    <ControlButton
      class="wide"
      icon={Users}
      isActive={panel.value === 'people'}
      label={words.people}
      aria-expanded={panel.value === 'people'}
      badge={count > 0 ? { count, text: words.waiting(count), isUrgent: true } : { count: people.size }}
      onClick={() => togglePanel('people')}
    />
  );
}

function Chat() {
  const count = unread.value;
  return (
    <ControlButton
      icon={MessageSquare}
      isActive={panel.value === 'chat'}
      label={words.chat}
      aria-expanded={panel.value === 'chat'}
      {...(count > 0 && { badge: { count, text: words.unread(count), isUrgent: true } })}
      onClick={() => togglePanel('chat')}
    />
  );
}

/** How the others see and hear us: the picture of the camera, the level of the microphone, and switches for both. */
import { useSignalEffect } from '@preact/signals';
import { Mic, MicOff, Video as VideoIcon, VideoOff } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import { hueOf, initialsOf } from '../../shared/components/avatar.js';
import { Icon } from '../../shared/components/icon.js';
import { preferences } from '../media/devices.js';
import { camera, microphone } from '../media/input.js';
import { ownLevel } from '../media/levels.js';
import { ownCamera } from '../media/own-streams.js';
import { isCameraClosed, isCameraOn, isMicrophoneOn, switchCamera, switchMicrophone } from '../meeting/switches.js';
import { Video } from '../stage/video.js';
import { texts } from '../texts.js';

const { preview: words, controls } = texts;

/** `name`: shown as initials while the camera is off. */
export function Preview({ name }: { name: string }) {
  const isOpening = camera.isOpening.value || microphone.isOpening.value;
  const whyOff = camera.problem.value || (isCameraClosed.value ? words.cameraClosed : words.cameraOff);
  return (
    <div class={`preview hue-${hueOf(name)}`}>
      {isCameraOn.value && !isCameraClosed.value ? (
        <Video stream={ownCamera.value} mirrored={preferences.value.isMirrored} label={words.label} />
      ) : (
        <div class="initials">
          <span aria-hidden="true">{name.trim() && initialsOf(name)}</span>
          <p>{isOpening ? words.opening : whyOff}</p>
        </div>
      )}
      <div class="switches">
        <Level />
        <button
          type="button"
          class={`round ${isMicrophoneOn.value ? '' : 'off'}`}
          title={isMicrophoneOn.value ? controls.mute : controls.unmute}
          aria-label={isMicrophoneOn.value ? controls.mute : controls.unmute}
          onClick={() => void switchMicrophone(!isMicrophoneOn.value)}
        >
          <Icon of={isMicrophoneOn.value ? Mic : MicOff} />
        </button>
        <button
          type="button"
          class={`round ${isCameraOn.value ? '' : 'off'}`}
          title={isCameraOn.value ? controls.cameraOff : controls.cameraOn}
          aria-label={isCameraOn.value ? controls.cameraOff : controls.cameraOn}
          onClick={() => void switchCamera(!isCameraOn.value)}
        >
          <Icon of={isCameraOn.value ? VideoIcon : VideoOff} />
        </button>
      </div>
    </div>
  );
}

/** How loud we are; changes ten times a second, so it sets the style without rendering. */
export function Level() {
  const element = useRef<HTMLDivElement>(null);
  useSignalEffect(() => element.current?.style.setProperty('--level', String(ownLevel.value)));
  return <div ref={element} class="level" title={words.level} aria-hidden="true" />;
}

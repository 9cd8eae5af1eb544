/** Turns our microphone, camera and screen on and off, in the preview and in the meeting. */
import { computed, effect, signal } from '@preact/signals';
import { toast } from '../../shared/components/toasts.js';
import { changePreferences, type InputKind, preferences } from '../media/devices.js';
import { camera, microphone, openInputs } from '../media/input.js';
import { screen, shareScreen, stopSharing } from '../media/screen.js';
import type { Flags } from '../protocol/messages.js';
import { texts } from '../texts.js';
import { changeFlags, session } from './connection.js';
import { self, state, view } from './state.js';

const isInside = computed(() => view.value === 'meeting');

type Input = typeof camera;

/** Whether a device that is on is closed since we left, and is opened when we join again. */
const isClosed = (kind: InputKind, { track, problem, isOpening }: Input) =>
  preferences.value.isOn[kind] && !track.value && !problem.value && !isOpening.value;
export const isCameraClosed = computed(() => isClosed('video', camera));

const isOnBeforeJoining = (kind: InputKind, input: Input) =>
  preferences.value.isOn[kind] && (!!input.track.value || isClosed(kind, input));

/** Whether the others hear us, or will when we join. */
export const isMicrophoneOn = computed(() =>
  isInside.value ? self.value?.isMuted === false : isOnBeforeJoining('audio', microphone),
);
/** Whether the others see us, or will when we join. */
export const isCameraOn = computed(() =>
  isInside.value ? self.value?.isVideoOff === false : isOnBeforeJoining('video', camera),
);

/** Whether we have turned the microphone on ourselves: a moderator can close it, but not open it. */
const isUnmutedByUser = signal(false);
/** Devices that the browser was still asking for when we joined: they are turned on once they are allowed. */
const awaited = new Set<InputKind>();

const INPUTS = [
  ['audio', microphone, 'isMuted'],
  ['video', camera, 'isVideoOff'],
] as const;

function remember(kind: InputKind, isOn: boolean) {
  changePreferences({ isOn: { ...preferences.value.isOn, [kind]: isOn } });
}

/** Opens closed devices that were on in the last meeting, or before the reload of the page. */
export async function openDevices(flags?: Flags): Promise<void> {
  if (flags) changePreferences({ isOn: { audio: !flags.isMuted, video: !flags.isVideoOff } });
  await openInputs({ audio: isClosed('audio', microphone), video: isClosed('video', camera) });
  if (state.value.status === 'out') return;
  for (const [, { track, problem }, flag] of INPUTS)
    if (!track.value && problem.value && self.value?.[flag] === false) changeFlags({ [flag]: true });
}

/** Flags to join with. `before`: those before a reload of the page. */
export function flagsOnJoin(before?: Flags): Flags {
  awaited.clear();
  for (const [kind, { track, isOpening }] of INPUTS) if (!track.value && isOpening.value) awaited.add(kind);
  const flags = before ?? { isMuted: !isMicrophoneOn.value, isVideoOff: !isCameraOn.value, isHandRaised: false };
  isUnmutedByUser.value = !flags.isMuted;
  return flags;
}

export async function switchMicrophone(isOn: boolean): Promise<void> {
  remember('audio', isOn);
  if (isOn && !microphone.track.value) {
    await microphone.open();
    if (microphone.problem.value) return failed(microphone.problem.value);
  }
  if (!isOn && !isInside.value) microphone.close();
  isUnmutedByUser.value = isOn;
  changeOwnFlags({ isMuted: !isOn });
}

export async function switchCamera(isOn: boolean): Promise<void> {
  remember('video', isOn);
  if (isOn && !camera.track.value) {
    await camera.open();
    if (camera.problem.value) return failed(camera.problem.value);
  }
  changeOwnFlags({ isVideoOff: !isOn });
  // A camera that is off is closed, so that its light is off, too.
  if (!isOn) camera.close();
}

/** Stops both devices, so that their lights are off; what was on is opened again when we join. */
export function closeDevices(): void {
  camera.close();
  microphone.close();
}

function failed(text: string) {
  if (isInside.value) toast({ text, tone: 'bad' });
}

function changeOwnFlags(flags: Partial<Flags>) {
  if (state.value.status !== 'out') changeFlags(flags);
}

export function toggleHand(): void {
  const isHandRaised = !self.value?.isHandRaised;
  session.change({ isHandRaised }, { type: isHandRaised ? 'raise-hand' : 'lower-hand' });
}

export async function toggleScreen(): Promise<void> {
  if (screen.value) return stopSharing();
  await shareScreen().catch(() => toast({ text: texts.devices.screenFailed, tone: 'bad' }));
}

// A muted microphone stays open, so that speaking again needs no time.
effect(() => {
  const track = microphone.track.value;
  if (track) track.enabled = isMicrophoneOn.value && (isUnmutedByUser.value || !isInside.value);
});

effect(() => {
  const own = self.value;
  if (own?.isMuted) isUnmutedByUser.value = false;
  else if (own && !isUnmutedByUser.peek()) changeFlags({ isMuted: true });
});

// A device that is unplugged is off; one that is allowed after joining is on, as the preview promised.
for (const [kind, { track, problem }, flag] of INPUTS) {
  let before = track.peek();
  effect(() => {
    const now = track.value;
    if (now === before) return;
    before = now;
    if (state.peek().status === 'out') return;
    if (now && awaited.delete(kind)) {
      if (kind === 'audio') isUnmutedByUser.value = true;
      changeFlags({ [flag]: false });
    } else if (!now && self.peek()?.[flag] === false) {
      changeFlags({ [flag]: true });
      toast({ text: problem.peek(), tone: 'bad' });
    }
  });
}

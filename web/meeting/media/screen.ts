/** Our shared screen. */
import { signal } from '@preact/signals';
import { mediaDevices } from './devices.js';

export const canShareScreen = mediaDevices !== undefined && 'getDisplayMedia' in mediaDevices;

/** Includes the sound of a shared tab. System audio is excluded: it contains the voices of the others, who would hear themselves. */
const CAPTURE_OPTIONS: DisplayMediaStreamOptions & { readonly systemAudio: string } = {
  video: { frameRate: { ideal: 15, max: 30 } },
  audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  systemAudio: 'exclude',
};

/** Undefined while we share nothing. */
export const screen = signal<MediaStream | undefined>();

/** Lets the user choose a screen. Resolves without one if they cancel; rejects if the browser fails. */
export async function shareScreen(): Promise<void> {
  try {
    const stream = await mediaDevices!.getDisplayMedia(CAPTURE_OPTIONS);
    const [track] = stream.getVideoTracks();
    if (!track) return;
    // Text shall stay sharp when bandwidth is scarce.
    track.contentHint = 'detail';
    track.addEventListener('ended', () => {
      if (screen.value === stream) stopSharing();
    });
    stopSharing();
    screen.value = stream;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotAllowedError')) throw error;
  }
}

export function stopSharing(): void {
  for (const track of screen.value?.getTracks() ?? []) track.stop();
  screen.value = undefined;
}

/** Our camera and our microphone: opened when they are needed, closed when they are not. */
import { computed, signal } from '@preact/signals';
import { texts } from '../texts.js';
import { chosenDevice, type InputKind, mediaDevices, updateDevices } from './devices.js';

/** The picture is encoded once for each of the others, which takes more than two cores in this size. */
const SIZE = navigator.hardwareConcurrency > 2 ? { width: 1280, height: 720 } : { width: 640, height: 360 };

const CONSTRAINTS = {
  video: { width: { ideal: SIZE.width }, height: { ideal: SIZE.height }, frameRate: { ideal: 24, max: 30 } },
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
} as const;

export const camera = createInput('video');
export const microphone = createInput('audio');

/** Opens both with one question to the user; one of them alone if the other does not exist. */
export async function openInputs(isOn: { readonly [kind in InputKind]: boolean }): Promise<void> {
  if (!isOn.audio || !isOn.video) {
    await Promise.all([isOn.audio && microphone.open(), isOn.video && camera.open()]);
    return;
  }
  const both = request({ audio: constraintsOf('audio'), video: constraintsOf('video') }).catch(
    async (error: unknown) => {
      // The user has closed the permission dialog: do not open it again immediately.
      if (nameOf(error) === 'NotAllowedError' && (await mayAsk())) throw error;
      return undefined;
    },
  );
  await Promise.all([camera.openFrom(both), microphone.openFrom(both)]);
}

/** Whether opening a device would ask the user. */
async function mayAsk(): Promise<boolean> {
  const states = ['camera', 'microphone'].map(async (name) => {
    const status = await navigator.permissions?.query({ name: name as PermissionName }).catch(() => undefined);
    return status?.state ?? 'prompt';
  });
  return (await Promise.all(states)).every((state) => state === 'prompt');
}

const nameOf = (error: unknown) => (error instanceof DOMException ? error.name : '');

const deviceKind = (kind: InputKind) => `${kind}input` as const;

function constraintsOf(kind: InputKind): MediaTrackConstraints {
  const id = chosenDevice(deviceKind(kind));
  return { ...CONSTRAINTS[kind], ...(id !== undefined && { deviceId: { ideal: id } }) };
}

async function request(constraints: MediaStreamConstraints): Promise<MediaStream> {
  if (!mediaDevices) throw new DOMException('', 'SecurityError');
  return mediaDevices.getUserMedia(constraints);
}

/** Texts for the errors of `getUserMedia`. */
function problemText(kind: InputKind, error: unknown): string {
  const { denied, missing, busy, insecure } = texts.devices;
  const name = nameOf(error);
  if (name === 'SecurityError') return insecure[kind];
  if (name === 'NotAllowedError') return denied[kind];
  if (name === 'NotReadableError' || name === 'AbortError') return busy[kind];
  return missing[kind];
}

/** A camera or a microphone. */
function createInput(kind: InputKind) {
  /** Undefined while it is closed. */
  const track = signal<MediaStreamTrack | undefined>();
  /** Why it could not be opened, in words. */
  const problem = signal('');
  const openings = signal(0);
  /** Identifies the newest request; the results of older ones are discarded. */
  let newest = 0;

  function use(next: MediaStreamTrack | undefined) {
    track.value?.stop();
    track.value = next;
    next?.addEventListener('ended', () => {
      if (track.value !== next) return;
      problem.value = texts.devices.unplugged[kind];
      track.value = undefined;
    });
  }

  const tracksIn = (stream: MediaStream) => stream.getTracks().filter((each) => each.kind === kind);

  /** `stream`: already requested; undefined if that failed. */
  async function openFrom(stream: Promise<MediaStream | undefined>) {
    const attempt = ++newest;
    openings.value++;
    // Phones open one camera at a time.
    if (kind === 'video') track.value?.stop();
    try {
      const opened =
        (await stream) ?? (attempt === newest ? await request({ [kind]: constraintsOf(kind) }) : undefined);
      const [found, ...others] = opened ? tracksIn(opened) : [];
      for (const each of others) each.stop();
      if (attempt !== newest) found?.stop();
      else {
        use(found);
        problem.value = '';
      }
    } catch (error) {
      if (attempt === newest) {
        problem.value = problemText(kind, error);
        use(undefined);
      }
    } finally {
      openings.value--;
      void updateDevices();
    }
  }

  return {
    track,
    problem,
    /** The browser may be asking the user. */
    isOpening: computed(() => openings.value > 0),
    /** Resolves when it is open or has failed; replaces the open device. */
    open: () => openFrom(Promise.resolve(undefined)),
    openFrom,
    close() {
      newest++;
      use(undefined);
      problem.value = '';
    },
  };
}

/** Outgoing media: one video source at a time, muted or disabled by our flags. */
import { cameraPicture, drawnPicture, type Picture } from './camera.js';
import type { Tracks } from './peer.js';
import type { Person } from './room.js';

export interface Media {
  readonly isCamera: boolean;
  readonly stream: MediaStream;
  tracks(): Tracks;
  /** Resolves to false if no camera is available; the generated picture is used then. */
  use(source: 'camera' | 'drawing', name: string): Promise<boolean>;
  updateFlags(own: Person | undefined): void;
  stop(): void;
}

export function createMedia(): Media {
  const stream = new MediaStream();
  let picture: Picture | undefined;
  let isCamera = false;
  let flags = { isMuted: false, isVideoOff: false };

  function applyFlags() {
    if (picture) picture.video.enabled = !flags.isVideoOff;
    if (picture?.audio) picture.audio.enabled = !flags.isMuted;
  }

  function replacePicture(next: Picture | undefined, fromCamera: boolean) {
    for (const track of stream.getTracks()) stream.removeTrack(track);
    picture?.stop();
    picture = next;
    isCamera = fromCamera;
    if (next) stream.addTrack(next.video);
    applyFlags();
  }

  return {
    get isCamera() {
      return isCamera;
    },
    stream,
    tracks: () => ({ video: picture?.video ?? null, audio: picture?.audio ?? null }),
    async use(source, name) {
      const cameraSource = source === 'camera' ? await cameraPicture().catch(() => undefined) : undefined;
      replacePicture(cameraSource ?? drawnPicture(name), cameraSource !== undefined);
      return source === 'drawing' || cameraSource !== undefined;
    },
    updateFlags(own) {
      flags = { isMuted: own?.isMuted ?? false, isVideoOff: own?.isVideoOff ?? false };
      applyFlags();
    },
    stop: () => replacePicture(undefined, false),
  };
}

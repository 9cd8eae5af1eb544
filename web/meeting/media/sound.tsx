/** Plays the voices of the others and the sound of their screens, separately from the pictures: it continues whatever the stage shows. */
import { signal } from '@preact/signals';
import { Volume2 } from 'lucide-preact';
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { links } from '../meeting/state.js';
import { texts } from '../texts.js';
import { canChooseSpeaker, chosenDevice } from './devices.js';

/** Browsers play no sound on a page that was opened without a click. */
const isBlocked = signal(false);
const elements = new Set<HTMLAudioElement>();

const play = (element: HTMLAudioElement) =>
  element.play().then(
    () => (isBlocked.value = false),
    (error: unknown) => {
      if (error instanceof DOMException && error.name === 'NotAllowedError') isBlocked.value = true;
    },
  );

function Voice({ stream }: { stream: MediaStream }) {
  const element = useRef<HTMLAudioElement>(null);
  const speaker = chosenDevice('audiooutput') ?? '';
  useEffect(() => {
    const audio = element.current;
    if (!audio) return;
    audio.srcObject = stream;
    elements.add(audio);
    void play(audio);
    return () => {
      elements.delete(audio);
      audio.srcObject = null;
    };
  }, [stream]);
  useEffect(() => {
    if (canChooseSpeaker) void element.current?.setSinkId(speaker).catch(() => {});
  }, [speaker]);
  // biome-ignore lint/a11y/useMediaCaption: live speech has no captions
  return <audio ref={element} autoplay />;
}

export const Sound = () => (
  <>
    {[...links.value].map(([id, { stream, screen }]) => (
      <Fragment key={id}>
        <Voice stream={stream} />
        {screen && screen.getAudioTracks().length > 0 && <Voice stream={screen} />}
      </Fragment>
    ))}
  </>
);

export const SoundBlocked = () =>
  isBlocked.value ? (
    <div class="note" role="alert">
      <span>{texts.sound.blocked}</span>
      <Button small variant="main" icon={Volume2} onClick={() => [...elements].map(play)}>
        {texts.sound.play}
      </Button>
    </div>
  ) : null;

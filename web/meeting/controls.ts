/** Toolbar buttons of the meeting. */
import { byId, element, setPressed } from '../shared/dom.js';
import type { ClientMessage, Flags } from './messages.js';
import { isModerator, type Room } from './room.js';
import { REACTIONS } from './stage.js';

export interface ControlsOptions {
  send(message: ClientMessage): unknown;
  /** Changes our own flags. */
  change(flags: Partial<Flags>, message: ClientMessage): void;
  react(reaction: string): void;
  switchSource(): void;
  leave(): void;
}

export function createControls({ send, change, react, switchSource, leave }: ControlsOptions) {
  const button = (id: string) => byId<HTMLButtonElement>(id);
  const [mute, video, source, hand] = [button('mute'), button('video'), button('source'), button('hand')];
  const [lock, record] = [button('lock'), button('record')];

  byId('reactions').replaceChildren(
    ...Array.from(REACTIONS, ([name, sign]) => {
      const reactionButton = element('button', { textContent: sign, title: name, 'aria-label': `React: ${name}` });
      reactionButton.onclick = () => react(name);
      return reactionButton;
    }),
  );
  source.onclick = switchSource;
  button('leave').onclick = leave;

  return (room: Room, isCamera: boolean) => {
    const me = room.me ?? '';
    const { isMuted = false, isVideoOff = false, isHandRaised = false } = room.people.get(me) ?? {};
    const flag = (flags: Partial<Flags>) => () => change(flags, { type: 'participant-updated', ...flags });
    mute.onclick = flag({ isMuted: !isMuted });
    video.onclick = flag({ isVideoOff: !isVideoOff });
    hand.onclick = () => change({ isHandRaised: !isHandRaised }, { type: isHandRaised ? 'lower-hand' : 'raise-hand' });
    setPressed(mute, isMuted, isMuted ? 'Unmute' : 'Mute');
    setPressed(video, isVideoOff, isVideoOff ? 'Picture on' : 'Picture off');
    setPressed(hand, isHandRaised, isHandRaised ? 'Lower hand' : 'Raise hand');
    setPressed(source, isCamera, 'Camera');

    const { isLocked, recordingBy } = room;
    lock.hidden = record.hidden = !isModerator(room);
    setPressed(lock, isLocked, isLocked ? 'Unlock' : 'Lock');
    lock.onclick = () => send({ type: isLocked ? 'room-unlocked' : 'room-locked' });
    const isRecording = recordingBy !== undefined;
    setPressed(record, isRecording, isRecording ? 'End recording' : 'Announce recording');
    record.onclick = () =>
      send(isRecording ? { type: 'recording-stopped', stoppedBy: me } : { type: 'recording-started', startedBy: me });
  };
}

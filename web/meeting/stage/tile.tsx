/** One picture of the stage: a participant, or a shared screen. */
import { useSignalEffect } from '@preact/signals';
import { Hand, Maximize, MicOff, Pin, PinOff, Signal, SignalLow, SignalZero } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import { hueOf, initialsOf } from '../../shared/components/avatar.js';
import { IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { dropProps, isDraggingFiles } from '../files/drop.js';
import { preferences } from '../media/devices.js';
import { levelOf, speaking } from '../media/levels.js';
import { ownCamera } from '../media/own-streams.js';
import type { Link } from '../media/peer.js';
import { screen } from '../media/screen.js';
import { hands, links, me, nameOf, room } from '../meeting/state.js';
import { Name } from '../people/name.js';
import { PersonMenu } from '../people/person-menu.js';
import { texts } from '../texts.js';
import { type Item, keyOf, pinned, togglePin } from './layout.js';
import type { Rect } from './placement.js';
import { reactions } from './reactions.js';
import { Video } from './video.js';

interface TileProps {
  readonly item: Item;
  readonly rect: Rect;
}

const px = ({ left, top, width, height }: Rect) => ({
  left: `${left}px`,
  top: `${top}px`,
  width: `${width}px`,
  height: `${height}px`,
});

export const Tile = (props: TileProps) =>
  props.item.kind === 'screen' ? <ScreenTile {...props} /> : <PersonTile {...props} />;

function PersonTile({ item, rect }: TileProps) {
  const { participantId: id } = item;
  const element = useRef<HTMLElement>(null);
  useSignalEffect(() => element.current?.style.setProperty('--level', String(levelOf(id).value)));
  const person = room.value.people.get(id);
  if (!person) return null;
  const isMe = id === me.value;
  const link = links.value.get(id);
  const stream = isMe ? ownCamera.value : link?.stream;
  const place = hands.value.indexOf(id) + 1;
  const hasPicture = !person.isVideoOff && stream !== undefined && (isMe || link?.state === 'connected');
  return (
    <figure
      ref={element}
      class={`tile hue-${hueOf(id)}`}
      data-id={id}
      data-kind="person"
      data-state={isMe ? 'own' : (link?.state ?? 'new')}
      data-lost={person.isDisconnected || undefined}
      data-speaking={speaking.value.has(id) || undefined}
      style={px(rect)}
      onDblClick={() => togglePin(keyOf(item))}
      {...(!isMe && dropProps([id]))}
    >
      {hasPicture ? (
        <Video stream={stream} mirrored={isMe && preferences.value.isMirrored} />
      ) : (
        <div class="initials" aria-hidden="true">
          <span>{initialsOf(person.name)}</span>
        </div>
      )}
      <figcaption>
        {person.isMuted && <Icon of={MicOff} />}
        <span class="names">
          <Name name={person.name} marks={[isMe && texts.you]} />
        </span>
        {person.isMuted && <span class="unseen"> {texts.muted}</span>}
        {person.isVideoOff && <span class="unseen"> {texts.cameraOff}</span>}
      </figcaption>
      {place > 0 && (
        <span class="hand">
          <Icon of={Hand} />
          {hands.value.length > 1 && <span aria-hidden="true">{place}</span>}
          <span class="unseen">{texts.stage.hand(place)}</span>
        </span>
      )}
      {!isMe && <Quality link={link} isLost={person.isDisconnected} />}
      <div class="tile-actions">{isMe ? <PinButton item={item} /> : <PersonMenu small id={id} />}</div>
      <Reactions id={id} />
      {!isMe && isDraggingFiles.value && <span class="drop-here">{texts.stage.dropHere(person.name)}</span>}
    </figure>
  );
}

function ScreenTile({ item, rect }: TileProps) {
  const { participantId: id } = item;
  const element = useRef<HTMLElement>(null);
  const isMe = id === me.value;
  const label = isMe ? texts.stage.yourScreen : texts.stage.screenOf(nameOf(id));
  return (
    <figure
      ref={element}
      class="tile screen"
      data-id={id}
      data-kind="screen"
      style={px(rect)}
      onDblClick={() => togglePin(keyOf(item))}
    >
      <Video stream={isMe ? screen.value : links.value.get(id)?.screen} whole label={label} />
      <figcaption>
        <span class="names">{label}</span>
      </figcaption>
      <div class="tile-actions">
        <PinButton item={item} />
        <IconButton
          small
          icon={Maximize}
          label={texts.controls.fullScreen}
          onClick={() => void element.current?.requestFullscreen?.().catch(() => {})}
        />
      </div>
    </figure>
  );
}

function PinButton({ item }: { item: Item }) {
  const isPinned = pinned.value === keyOf(item);
  return (
    <IconButton
      small
      icon={isPinned ? PinOff : Pin}
      label={isPinned ? texts.stage.unpin : texts.stage.pin}
      onClick={() => togglePin(keyOf(item))}
    />
  );
}

const STATES: { readonly [state in RTCPeerConnectionState]: string } = {
  new: texts.stage.connecting,
  connecting: texts.stage.connecting,
  connected: texts.stage.connecting,
  disconnected: texts.stage.interrupted,
  failed: texts.stage.unreachable,
  closed: texts.stage.closed,
};

/** From this round-trip time on a conversation is hampered. */
const SLOW_MS = 300;

/** How well we are connected: in words if that is a problem. */
function Quality({ link, isLost }: { link: Link | undefined; isLost: boolean }) {
  const { state = 'new', roundTripMs } = link ?? {};
  if (isLost) return <span class="quality problem">{texts.connectionLostMark}</span>;
  if (state !== 'connected' || roundTripMs === undefined)
    return <span class={`quality ${state === 'failed' ? 'problem' : ''}`}>{STATES[state]}</span>;
  const text = texts.stage.direct(Math.max(1, Math.round(roundTripMs)));
  const icon = roundTripMs > 2 * SLOW_MS ? SignalZero : roundTripMs > SLOW_MS ? SignalLow : Signal;
  return (
    <span class="quality good" title={text}>
      <Icon of={icon} />
      <span class="unseen">{text}</span>
    </span>
  );
}

const Reactions = ({ id }: { id: string }) => (
  <>
    {reactions.value
      .filter(({ participantId }) => participantId === id)
      .map(({ key, sign }) => (
        <span key={key} class="reaction" aria-hidden="true">
          {sign}
        </span>
      ))}
  </>
);

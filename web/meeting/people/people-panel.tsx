/** The panel of people: who waits, whose hand is raised, who is in the meeting. */
import { Hand, MicOff, VideoOff } from 'lucide-preact';
import { useId } from 'preact/hooks';
import { Avatar } from '../../shared/components/avatar.js';
import { Icon, type IconType } from '../../shared/components/icon.js';
import { dropProps } from '../files/drop.js';
import { speaking } from '../media/levels.js';
import { SidePanel } from '../meeting/side-panel.js';
import { hands, me, nameOf, room } from '../meeting/state.js';
import type { Person } from '../protocol/room.js';
import { texts } from '../texts.js';
import { Name } from './name.js';
import { PersonMenu } from './person-menu.js';
import { WaitingList } from './waiting.js';

const { people: words } = texts;

export const PeoplePanel = () => (
  <SidePanel title={words.title} closeLabel={words.close}>
    <div class="people">
      <WaitingList />
      <Hands />
      <Present />
    </div>
  </SidePanel>
);

function Hands() {
  const titleId = useId();
  if (hands.value.length === 0) return null;
  return (
    <section aria-labelledby={titleId}>
      <h3 id={titleId}>{words.hands}</h3>
      <ol class="hands">
        {hands.value.map((id) => (
          <li key={id}>
            <Icon of={Hand} />
            <Name name={nameOf(id)} marks={[id === me.value && texts.you]} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Present() {
  const titleId = useId();
  const people = [...room.value.people];
  return (
    <section aria-labelledby={titleId}>
      <h3 id={titleId}>
        {words.inMeeting} <span class="count">{people.length}</span>
      </h3>
      <ul>
        {people.map(([id, person]) => (
          <Row key={id} id={id} person={person} />
        ))}
      </ul>
    </section>
  );
}

function Row({ id, person }: { id: string; person: Person }) {
  const isMe = id === me.value;
  const { name, isModerator, isMuted, isVideoOff, isHandRaised, isDisconnected } = person;
  const marks = [isMe && texts.you, isModerator && texts.moderator, isDisconnected && texts.connectionLostMark];
  return (
    <li class="person" data-id={id} data-speaking={speaking.value.has(id) || undefined} {...(!isMe && dropProps([id]))}>
      <Avatar small id={id} name={name} />
      <span class="who">
        <Name name={name} marks={marks} />
        <Flag isOn={isMuted} icon={MicOff} text={texts.muted} />
        <Flag isOn={isVideoOff} icon={VideoOff} text={texts.cameraOff} />
        <Flag isOn={isHandRaised} icon={Hand} text={texts.handRaised} />
      </span>
      {!isMe && <PersonMenu small id={id} />}
    </li>
  );
}

const Flag = ({ isOn, icon, text }: { isOn: boolean; icon: IconType; text: string }) =>
  isOn ? (
    <span class="flag" title={text}>
      <Icon of={icon} />
      <span class="unseen"> {text}</span>
    </span>
  ) : null;

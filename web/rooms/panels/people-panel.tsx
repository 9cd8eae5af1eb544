/** Who is in the room, and who is only listed by the server. */
import { BadgeCheck, CircleHelp, ShieldAlert, UserPlus } from 'lucide-preact';
import { Avatar } from '../../shared/components/avatar.js';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { clockTime } from '../../shared/components/time.js';
import type { Participant } from '../contract.js';
import { isPresent } from '../conversation.js';
import { fullNameOf, useRoom } from '../room/context.js';
import { texts } from '../texts.js';
import { Panel } from './panel.js';

const words = texts.people;
const ICONS = { verified: BadgeCheck, changed: ShieldAlert, none: CircleHelp } as const;

export function PeoplePanel() {
  const { session, dialog } = useRoom();
  const hasKey = ({ id }: Participant) => isPresent(session.conversation.value, id);
  const all = session.roster.participants.value;
  const without = all.filter((each) => !hasKey(each));
  return (
    <Panel title={words.heading}>
      <ul class="people">
        {all.filter(hasKey).map((each) => (
          <Person key={each.id} participant={each} />
        ))}
      </ul>
      <Button
        icon={UserPlus}
        disabled={session.isExcluded.value}
        onClick={() => {
          dialog.value = 'invite';
        }}
      >
        {words.invite}
      </Button>
      {without.length > 0 && (
        <>
          <h3>{words.withoutKey}</h3>
          <p class="quiet">{words.withoutKeyHint}</p>
          <ul class="people">
            {without.map((each) => (
              <Person key={each.id} participant={each} />
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function Person({ participant: { id, joinedAt } }: { participant: Participant }) {
  const { session, dialog } = useRoom();
  const { issued } = session.secrets.value;
  const verification = session.roster.verificationOf(id);
  const member = session.conversation.value.members.get(id);
  const name = member ? fullNameOf(session, id) : words.nameless;
  const isOwn = id === session.ownId;
  const link = issued.find(({ digest }) => digest === member?.invite);
  const details = [
    isOwn && words.you,
    words.since(clockTime(Date.parse(joinedAt))),
    link && words.byYourLink(link.label),
    member?.hasLeft && words.hasLeft,
  ];
  return (
    <li>
      <button
        type="button"
        class="person"
        onClick={() => {
          dialog.value = { about: id };
        }}
      >
        <Avatar id={id} name={name} />
        <span class="person-text">
          <strong>{name}</strong>
          <span class="quiet">{details.filter(Boolean).join(' · ')}</span>
        </span>
        {!isOwn && (
          <span class={`verification ${verification}`} title={words.verification[verification]}>
            <Icon of={ICONS[verification]} />
            <span class="unseen">{words.verification[verification]}</span>
          </span>
        )}
      </button>
    </li>
  );
}

/** Who can read a channel, and who of them is there. */
import { UserPlus } from 'lucide-preact';
import { messageOf } from '../../shared/api/http.js';
import { Avatar } from '../../shared/components/avatar.js';
import { Button } from '../../shared/components/button.js';
import { toast } from '../../shared/components/toasts.js';
import type { User } from '../contract.js';
import { StatusDot } from '../sidebar/status-dot.js';
import { texts } from '../texts/workspace.js';
import { mayChange } from '../timeline/place-header.js';
import { useWorkspace } from '../workspace/context.js';
import { show } from '../workspace/view.js';
import { PanelFrame } from './panel.js';

const RANK = { online: 0, away: 1, offline: 2 };

export function PeoplePanel({ placeId }: { placeId: string }) {
  const workspace = useWorkspace();
  const { store, overlay } = workspace;
  const [channels, users, presence] = [store.channels.value, store.users.value, store.presence.value];
  const channel = channels.get(placeId);
  if (!channel) return null;
  const rank = ({ id }: User) => RANK[presence.get(id)?.status ?? 'offline'];
  const readers = [...users.values()]
    .filter(({ id, isAdmin }) => !channel.isPrivate || isAdmin || channel.members.includes(id))
    .sort((a, b) => rank(a) - rank(b) || a.userName.localeCompare(b.userName));
  return (
    <PanelFrame title={texts.people} subtitle={String(readers.length)}>
      <div class="panel-content">
        {channel.topic && <p class="panel-note">{channel.topic}</p>}
        <p class="quiet panel-note">{channel.isPrivate ? texts.privateNote : texts.publicNote}</p>
        {channel.isPrivate && mayChange(workspace, channel) && (
          <Button
            small
            icon={UserPlus}
            onClick={() => {
              overlay.value = { kind: 'edit-channel', channelId: placeId };
            }}
          >
            {texts.changeMembers}
          </Button>
        )}
        <ul class="people">
          {readers.map((person) => (
            <Person key={person.id} person={person} />
          ))}
        </ul>
      </div>
    </PanelFrame>
  );
}

function Person({ person: { id, userName, isAdmin } }: { person: User }) {
  const { actions, user } = useWorkspace();
  const isSelf = id === user.id;
  const open = () =>
    actions.startConversation(id).then(show, (error: unknown) => toast({ tone: 'bad', text: messageOf(error) }));
  return (
    <li>
      <button type="button" disabled={isSelf} onClick={open} title={isSelf ? undefined : texts.writeTo(userName)}>
        <Avatar small id={id} name={userName} />
        <span class="name">{userName}</span>
        {isAdmin && <span class="tag">{texts.admin}</span>}
        {isSelf && <span class="quiet">{texts.you}</span>}
        <StatusDot userId={id} />
      </button>
    </li>
  );
}

/** A channel or conversation: header, messages, composer. */
import { Hash, Lock } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import type { ListControl } from '../../shared/components/anchored-list.js';
import { Avatar } from '../../shared/components/avatar.js';
import { Icon } from '../../shared/components/icon.js';
import { Empty } from '../../shared/components/states.js';
import { longDate } from '../../shared/components/time.js';
import { Composer } from '../composer/composer.js';
import type { Channel } from '../contract.js';
import { isDirect, nameOf } from '../state/chat-state.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';
import { view } from '../workspace/view.js';
import { PlaceHeader } from './place-header.js';
import { TimelineView } from './timeline-view.js';

/** Name of a channel or of the other user of a conversation; undefined if there is no such place. */
export function placeName({ store }: Workspace, placeId: string): string | undefined {
  const other = store.conversations.value.get(placeId)?.otherUser;
  return other ? nameOf(store.users.value, other) : store.channels.value.get(placeId)?.name;
}

/** Begins to edit the user's last message of a timeline, if it is recent enough to be loaded. */
export function editLast({ store, editing, user }: Workspace, key: string): void {
  const own = store.state
    .peek()
    .timelines.get(key)
    ?.messages.findLast(({ author }) => author.id === user.id);
  if (own) editing.value = own;
}

export function PlaceView({ placeId }: { placeId: string }) {
  const workspace = useWorkspace();
  const control = useRef<ListControl>();
  const name = placeName(workspace, placeId);
  const channel = workspace.store.channels.value.get(placeId);
  const { at } = view.value;
  if (name === undefined)
    return (
      <main class="place">
        <PlaceHeader placeId={placeId} name={texts.notFound} />
        <Empty icon={Lock} title={texts.noSuchPlace}>
          <span>{texts.noSuchPlaceHint}</span>
        </Empty>
      </main>
    );
  const label = channel ? texts.messagesIn(name) : texts.messagesWith(name);
  return (
    <main class="place">
      <PlaceHeader placeId={placeId} name={name} />
      <TimelineView
        key={placeId}
        timelineKey={placeId}
        label={label}
        at={at}
        intro={<Intro name={name} channel={channel} placeId={placeId} />}
        onReady={(ready) => {
          control.current = ready;
        }}
      />
      <Composer
        key={placeId}
        placeId={placeId}
        placeholder={channel ? texts.writeIn(name) : texts.writeTo(name)}
        onEditLast={() => editLast(workspace, placeId)}
        onSent={() => control.current?.scrollToEnd()}
      />
    </main>
  );
}

interface IntroProps {
  readonly name: string;
  readonly channel: Channel | undefined;
  readonly placeId: string;
}

function Intro({ name, channel, placeId }: IntroProps) {
  const { store } = useWorkspace();
  if (isDirect(placeId)) {
    const id = store.conversations.value.get(placeId)?.otherUser.id ?? '';
    return (
      <>
        <Avatar id={id} name={name} />
        <h2>{name}</h2>
        <p class="quiet">{texts.directIntro(name)}</p>
      </>
    );
  }
  return (
    <>
      <h2>
        <Icon of={channel?.isPrivate ? Lock : Hash} />
        {name}
      </h2>
      <p class="quiet">{texts.channelIntro(name, channel ? longDate(channel.createdAt) : '')}</p>
    </>
  );
}

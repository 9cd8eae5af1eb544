/** Channels, conversations, and the user's own menu. */
import { Hash, Lock, MessagesSquare, PenLine, Plus, Search, X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import type { Channel, Conversation } from '../contract.js';
import { sortedChannels, sortedConversations } from '../state/chat-state.js';
import { texts } from '../texts/workspace.js';
import { type Overlay, useWorkspace } from '../workspace/context.js';
import { isEmpty } from '../workspace/drafts.js';
import { unreadIn } from '../workspace/marks.js';
import { addressOf, view } from '../workspace/view.js';
import { OwnMenu } from './own-menu.js';
import { StatusDot } from './status-dot.js';

export function Sidebar() {
  const { store, overlay, isSidebarOpen } = useWorkspace();
  const isOpen = isSidebarOpen.value;
  const element = useRef<HTMLElement>(null);
  const close = () => {
    isSidebarOpen.value = false;
  };
  const open = (kind: 'switcher' | 'new-channel' | 'new-direct') => () => {
    overlay.value = { kind } satisfies Overlay;
  };
  useEffect(() => {
    if (isOpen) element.current?.querySelector<HTMLElement>('a, button')?.focus();
  }, [isOpen]);
  return (
    <>
      {isOpen && <div class="sidebar-shade" aria-hidden="true" onClick={close} />}
      <nav ref={element} class={`sidebar${isOpen ? ' open' : ''}`} aria-label={texts.sidebar}>
        <header class="sidebar-header">
          <strong>{store.serverName.value || texts.appName}</strong>
          <span class="sidebar-button">
            <IconButton small icon={X} label={texts.hideSidebar} onClick={close} />
          </span>
        </header>
        <button type="button" class="switcher-button" onClick={open('switcher')}>
          <Icon of={Search} />
          <span>{texts.switchTo}</span>
          <kbd>{texts.switcherKeys}</kbd>
        </button>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: links work by keyboard, the drawer closes with Escape */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
        <div
          class="places"
          onClick={(event) => event.target instanceof Element && event.target.closest('a') && close()}
        >
          <ThreadsLink />
          <Section title={texts.channels} addLabel={texts.newChannel} onAdd={open('new-channel')}>
            {sortedChannels(store.channels.value).map((channel) => (
              <ChannelLink key={channel.id} channel={channel} />
            ))}
          </Section>
          <Section title={texts.directMessages} addLabel={texts.newDirect} onAdd={open('new-direct')}>
            {sortedConversations(store.conversations.value).map((conversation) => (
              <ConversationLink key={conversation.id} conversation={conversation} />
            ))}
          </Section>
        </div>
        <OwnMenu />
      </nav>
    </>
  );
}

/** Only when there are some: whatever else is unread is in its place. */
function ThreadsLink() {
  const { marks } = useWorkspace();
  const { placeId, panel } = view.value;
  const count = marks.threads.value.length;
  if (placeId === undefined || (count === 0 && panel?.kind !== 'threads')) return null;
  return (
    <a
      href={addressOf(placeId, { panel: { kind: 'threads' } })}
      class={`place-link threads-link${count > 0 ? ' unread' : ''}`}
      aria-current={panel?.kind === 'threads' ? 'true' : undefined}
    >
      <Icon of={MessagesSquare} />
      <span class="name">{texts.threads}</span>
      {count > 0 && <span class="badge">{count}</span>}
    </a>
  );
}

interface SectionProps {
  readonly title: string;
  readonly addLabel: string;
  readonly onAdd: () => void;
  readonly children: ComponentChildren;
}

const Section = ({ title, addLabel, onAdd, children }: SectionProps) => (
  <section>
    <header>
      <h2>{title}</h2>
      <IconButton small icon={Plus} label={addLabel} onClick={onAdd} />
    </header>
    <ul>{children}</ul>
  </section>
);

interface PlaceLinkProps {
  readonly placeId: string;
  readonly icon: ComponentChildren;
  readonly name: string;
}

function PlaceLink({ placeId, icon, name }: PlaceLinkProps) {
  const { marks, drafts } = useWorkspace();
  const { count, mentions } = unreadIn(marks, placeId);
  const isMuted = marks.marks.value.muted.includes(placeId);
  const isCurrent = view.value.placeId === placeId;
  const hasDraft = !isCurrent && !isEmpty(drafts.of(placeId).value);
  return (
    <li>
      <a
        href={addressOf(placeId)}
        class={`place-link${count > 0 && !isMuted ? ' unread' : ''}${isMuted ? ' muted' : ''}`}
        aria-current={isCurrent ? 'page' : undefined}
      >
        {icon}
        <span class="name">{name}</span>
        {hasDraft && <Icon of={PenLine} />}
        {mentions > 0 && !isMuted && (
          <span class="badge" role="img" aria-label={texts.unreadForYou(mentions)}>
            {mentions > 99 ? '99+' : mentions}
          </span>
        )}
        {count > 0 && mentions === 0 && <span class="unseen">{texts.unread}</span>}
      </a>
    </li>
  );
}

const ChannelLink = ({ channel: { id, name, isPrivate } }: { channel: Channel }) => (
  <PlaceLink placeId={id} name={name} icon={<Icon of={isPrivate ? Lock : Hash} />} />
);

function ConversationLink({ conversation: { id, otherUser } }: { conversation: Conversation }) {
  const { store } = useWorkspace();
  const name = store.users.value.get(otherUser.id)?.userName ?? otherUser.userName;
  return <PlaceLink placeId={id} name={name} icon={<StatusDot userId={otherUser.id} />} />;
}

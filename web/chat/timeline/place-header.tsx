/** Name and topic of a place, and buttons for its panels. */
import { Bell, BellOff, Hash, Lock, Menu as MenuIcon, Pencil, Pin, Search, Trash2, Users } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import type { Channel } from '../contract.js';
import { StatusDot } from '../sidebar/status-dot.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';
import { type Panel, showPanel, view } from '../workspace/view.js';

export function PlaceHeader({ placeId, name }: { placeId: string; name: string }) {
  const workspace = useWorkspace();
  const { store, isSidebarOpen, marks } = workspace;
  const channel = store.channels.value.get(placeId);
  const other = store.conversations.value.get(placeId)?.otherUser.id;
  const kind = view.value.panel?.kind;
  const toggle = (panel: Panel) => showPanel(kind === panel.kind ? undefined : panel);
  return (
    <header class="place-header">
      <span class="sidebar-button">
        <IconButton
          icon={MenuIcon}
          label={texts.showSidebar}
          onClick={() => {
            isSidebarOpen.value = true;
          }}
        />
        {marks.forUser.value > 0 && (
          <span class="badge" role="img" aria-label={texts.unreadForYou(marks.forUser.value)}>
            {marks.forUser.value > 99 ? '99+' : marks.forUser.value}
          </span>
        )}
      </span>
      <h1>
        {channel ? <Icon of={channel.isPrivate ? Lock : Hash} /> : other && <StatusDot userId={other} />}
        <span>{name}</span>
        {marks.marks.value.muted.includes(placeId) && <Icon of={BellOff} />}
      </h1>
      <p class="topic quiet" title={channel?.topic}>
        {channel ? channel.topic : other && texts.status[store.presence.value.get(other)?.status ?? 'offline']}
      </p>
      <div class="place-actions">
        <IconButton
          icon={Search}
          label={texts.search}
          pressed={kind === 'search'}
          onClick={() => toggle({ kind: 'search', text: '' })}
        />
        {channel && (
          <>
            <IconButton
              icon={Pin}
              label={texts.pins}
              pressed={kind === 'pins'}
              onClick={() => toggle({ kind: 'pins' })}
            />
            <IconButton
              icon={Users}
              label={texts.people}
              pressed={kind === 'people'}
              onClick={() => toggle({ kind: 'people' })}
            />
          </>
        )}
        {name !== texts.notFound && (
          <Menu label={texts.placeMenu} items={() => entriesOf(workspace, placeId, channel)} />
        )}
      </div>
    </header>
  );
}

export const mayChange = ({ user }: Workspace, { createdBy }: Channel): boolean =>
  user.isAdmin || createdBy === user.id;

function entriesOf(workspace: Workspace, placeId: string, channel: Channel | undefined): readonly MenuEntry[] {
  const { marks, overlay } = workspace;
  const isMuted = marks.marks.peek().muted.includes(placeId);
  const mute: MenuEntry = {
    label: isMuted ? texts.unmute : texts.mute,
    icon: isMuted ? Bell : BellOff,
    run: () => marks.setMuted(placeId, !isMuted),
  };
  if (!channel || !mayChange(workspace, channel)) return [mute];
  return [
    mute,
    'separator',
    {
      label: texts.editChannel,
      icon: Pencil,
      run: () => {
        overlay.value = { kind: 'edit-channel', channelId: placeId };
      },
    },
    {
      label: texts.deleteChannel,
      icon: Trash2,
      danger: true,
      run: () => {
        overlay.value = { kind: 'delete-channel', channelId: placeId };
      },
    },
  ];
}

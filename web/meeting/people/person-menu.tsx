/** Menu of actions on another participant. */
import { signal } from '@preact/signals';
import { Crown, MicOff, MicVocal, Paperclip, Pin, PinOff, UserX } from 'lucide-preact';
import { ConfirmDialog } from '../../shared/components/dialog.js';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import { chooseFiles } from '../files/choose-files.js';
import { send } from '../meeting/connection.js';
import { isModerating, nameOf, room } from '../meeting/state.js';
import type { Action } from '../protocol/messages.js';
import { keyOf, pinned, togglePin } from '../stage/layout.js';
import { texts } from '../texts.js';

/** The participant whom we are about to remove. */
const removing = signal<string | undefined>();

const act = (targetId: string, action: Action) => send({ type: 'moderator-action', targetId, action });

function itemsFor(id: string): readonly MenuEntry[] {
  const { people } = texts;
  const person = room.value.people.get(id);
  const key = keyOf({ kind: 'person', participantId: id });
  const isPinned = pinned.value === key;
  const general: readonly MenuEntry[] = [
    { label: people.sendFile, icon: Paperclip, run: () => chooseFiles([id]) },
    { label: isPinned ? texts.stage.unpin : texts.stage.pin, icon: isPinned ? PinOff : Pin, run: () => togglePin(key) },
  ];
  if (!isModerating.value || !person) return general;
  return [
    ...general,
    'separator',
    person.isMuted
      ? { label: people.askToUnmute, icon: MicVocal, run: () => act(id, 'unmute') }
      : { label: people.mute, icon: MicOff, run: () => act(id, 'mute') },
    ...(person.isModerator ? [] : [{ label: people.makeModerator, icon: Crown, run: () => act(id, 'make-moderator') }]),
    { label: people.remove, icon: UserX, danger: true, run: () => (removing.value = id) },
  ];
}

export const PersonMenu = ({ id, small = false }: { id: string; small?: boolean }) => (
  <Menu small={small} label={texts.stage.actions(nameOf(id))} items={() => itemsFor(id)} />
);

/** Asks before somebody is removed; to be rendered once. */
export function RemoveDialog() {
  const id = removing.value;
  if (id === undefined || !room.value.people.has(id)) return null;
  const { people } = texts;
  return (
    <ConfirmDialog
      danger
      title={people.removeTitle(nameOf(id))}
      text={people.removeAbout}
      confirmLabel={people.remove}
      onConfirm={async () => act(id, 'kick')}
      onClose={() => (removing.value = undefined)}
    />
  );
}

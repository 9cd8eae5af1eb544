/** Finds a channel or person by a few letters; also starts conversations. */
import { Hash, Lock } from 'lucide-preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Icon, type IconType } from '../../shared/components/icon.js';
import { toast } from '../../shared/components/toasts.js';
import { isComposing } from '../../shared/dom.js';
import { StatusDot } from '../sidebar/status-dot.js';
import { type ChatState, sortedConversations } from '../state/chat-state.js';
import { ranked } from '../state/completion.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';
import { show } from '../workspace/view.js';

interface Target {
  readonly id: string;
  readonly name: string;
  readonly icon?: IconType;
  readonly userId?: string;
  readonly isUnread: boolean;
}

const MAX_TARGETS = 40;

/** What can be opened: channels and conversations with something unread first. */
function targetsOf({ store, marks, user }: Workspace, peopleOnly: boolean): readonly Target[] {
  const state = store.state.value;
  const unread = marks.unread.value;
  const channels = [...state.channels.values()].map(({ id, name, isPrivate }) => ({
    id,
    name,
    icon: isPrivate ? Lock : Hash,
    isUnread: unread.has(id),
  }));
  const people = peopleOf(state, user.id).map(({ id, userId, name }) => ({
    id,
    userId,
    name,
    isUnread: unread.has(id),
  }));
  const all: readonly Target[] = peopleOnly ? people : [...channels, ...people];
  return all.toSorted((a, b) => Number(b.isUnread) - Number(a.isUnread));
}

/** Everyone else, those with a conversation first. */
function peopleOf(state: ChatState, ownId: string) {
  const known = sortedConversations(state.conversations).flatMap(({ id, otherUser }) => {
    const user = state.users.get(otherUser.id);
    return user ? [{ id, userId: user.id, name: user.userName }] : [];
  });
  const knownIds = new Set(known.map(({ userId }) => userId));
  const others = [...state.users.values()]
    .filter(({ id }) => id !== ownId && !knownIds.has(id))
    .map(({ id, userName }) => ({ id: '', userId: id, name: userName }));
  return [...known, ...others];
}

export function Switcher({ peopleOnly = false, onClose }: { peopleOnly?: boolean; onClose: () => void }) {
  const workspace = useWorkspace();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const listId = useId();
  const all = targetsOf(workspace, peopleOnly);
  const text = typed.replace(/^[#@]/, '');
  const found = (text === '' ? all : ranked(all, text, ({ name }) => name)).slice(0, MAX_TARGETS);

  useEffect(() => {
    document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  async function open(target: Target | undefined) {
    if (!target) return;
    try {
      show(target.id || (await workspace.actions.startConversation(target.userId ?? '')));
      onClose();
    } catch (error) {
      toast({ tone: 'bad', text: messageOf(error) });
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) setActive((active + step + found.length) % found.length);
    else if (event.key === 'Enter') void open(found[active]);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog title={peopleOnly ? texts.newDirect : texts.switchTo} closeLabel={texts.close} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
        aria-label={peopleOnly ? texts.findPerson : texts.switchLabel}
        placeholder={peopleOnly ? texts.findPerson : texts.switchLabel}
        autoFocus
        autocomplete="off"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="switcher-list" role="listbox" id={listId} aria-label={texts.switchTo}>
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the keys
          <div
            key={target.id || target.userId}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            class={target.isUnread ? 'unread' : undefined}
            onPointerMove={() => setActive(index)}
            onClick={() => void open(target)}
          >
            {target.icon ? <Icon of={target.icon} /> : <StatusDot userId={target.userId ?? ''} />}
            <span>{target.name}</span>
          </div>
        ))}
        {found.length === 0 && <p class="quiet">{texts.nobodyFound}</p>}
      </div>
    </Dialog>
  );
}

/** Reactions of a message, and the picker of another one. */
import { SmilePlus } from 'lucide-preact';
import { messageOf } from '../../shared/api/http.js';
import { toast } from '../../shared/components/toasts.js';
import type { Message } from '../contract.js';
import { EmojiPicker } from '../emoji-picker.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';

export function toggleReaction({ actions, user }: Workspace, message: Message, reaction: string): void {
  const isOn = Object.hasOwn(message.reactions, reaction) && message.reactions[reaction]?.includes(user.id);
  actions
    .setReaction(message, reaction, !isOn)
    .catch((error: unknown) => toast({ tone: 'bad', text: messageOf(error) }));
}

export function ReactionPicker({ message }: { message: Message }) {
  const workspace = useWorkspace();
  return (
    <EmojiPicker
      icon={SmilePlus}
      label={texts.react}
      onPick={(reaction) => toggleReaction(workspace, message, reaction)}
    />
  );
}

export function Reactions({ message }: { message: Message }) {
  const workspace = useWorkspace();
  const { store, user } = workspace;
  const entries = Object.entries(message.reactions);
  if (entries.length === 0) return null;
  const users = store.users.value;
  return (
    <div class="reactions">
      {entries.map(([reaction, ids]) => {
        const names = ids.map((id) => (id === user.id ? texts.you : (users.get(id)?.userName ?? texts.formerUser)));
        return (
          <button
            key={reaction}
            type="button"
            class="reaction"
            aria-pressed={ids.includes(user.id)}
            aria-label={texts.reactedWith(reaction, names)}
            title={texts.reactedWith(reaction, names)}
            onClick={() => toggleReaction(workspace, message, reaction)}
          >
            <span>{reaction}</span>
            <strong>{ids.length}</strong>
          </button>
        );
      })}
      <ReactionPicker message={message} />
    </div>
  );
}

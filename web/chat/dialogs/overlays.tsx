/** The dialog that is open over the workspace. */
import { ConfirmDialog } from '../../shared/components/dialog.js';
import { navigate } from '../../shared/route.js';
import type { Channel, Message } from '../contract.js';
import { Lightbox } from '../files/lightbox.js';
import { signOut } from '../session.js';
import { plainText } from '../state/format.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { ChannelDialog } from './channel-dialog.js';
import { HistoryDialog } from './history-dialog.js';
import { ShortcutsDialog } from './shortcuts-dialog.js';
import { Switcher } from './switcher.js';

export function Overlays() {
  const { overlay, store } = useWorkspace();
  const shown = overlay.value;
  const close = () => {
    overlay.value = undefined;
  };
  const channels = store.channels.value;
  switch (shown?.kind) {
    case 'switcher':
      return <Switcher onClose={close} />;
    case 'new-direct':
      return <Switcher peopleOnly onClose={close} />;
    case 'shortcuts':
      return <ShortcutsDialog onClose={close} />;
    case 'new-channel':
      return <ChannelDialog onClose={close} />;
    case 'edit-channel':
      return <ChannelDialog channel={channels.get(shown.channelId)} onClose={close} />;
    case 'delete-channel': {
      const channel = channels.get(shown.channelId);
      return channel ? <DeleteChannel channel={channel} onClose={close} /> : null;
    }
    case 'delete':
      return <DeleteMessage message={shown.message} onClose={close} />;
    case 'sign-out':
      return <SignOut onClose={close} />;
    case 'history':
      return <HistoryDialog message={shown.message} onClose={close} />;
    case 'image':
      return <Lightbox shown={shown} />;
    default:
      return null;
  }
}

function DeleteMessage({ message, onClose }: { message: Message; onClose: () => void }) {
  const { actions } = useWorkspace();
  const replies = message.threadMeta?.replyCount ?? 0;
  return (
    <ConfirmDialog
      danger
      title={texts.deleteMessage}
      text={texts.deleteMessageText(plainText(message.content).slice(0, 200), replies)}
      confirmLabel={texts.delete}
      cancelLabel={texts.cancel}
      onConfirm={() => actions.remove(message)}
      onClose={onClose}
    />
  );
}

function SignOut({ onClose }: { onClose: () => void }) {
  const { sending } = useWorkspace();
  return (
    <ConfirmDialog
      danger
      title={texts.signOut}
      text={texts.signOutText(sending.outbox.value.length)}
      confirmLabel={texts.signOut}
      cancelLabel={texts.cancel}
      onConfirm={signOut}
      onClose={onClose}
    />
  );
}

function DeleteChannel({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const { actions } = useWorkspace();
  async function remove() {
    await actions.deleteChannel(channel);
    navigate('#/', { replace: true });
  }
  return (
    <ConfirmDialog
      danger
      title={texts.deleteChannel}
      text={texts.deleteChannelText(channel.name)}
      confirmLabel={texts.delete}
      cancelLabel={texts.cancel}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

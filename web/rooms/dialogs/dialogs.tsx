/** The dialog that is open, if any. */
import { ConfirmDialog, Dialog } from '../../shared/components/dialog.js';
import { Form, TextField } from '../../shared/components/form.js';
import { MAX_NAME, MAX_TITLE, tidy } from '../content.js';
import { ownName } from '../own-name.js';
import { useRoom } from '../room/context.js';
import { texts } from '../texts.js';
import { InviteDialog } from './invite-dialog.js';
import { PersonDialog } from './person-dialog.js';

export function Dialogs() {
  const { session, dialog } = useRoom();
  const open = dialog.value;
  const onClose = () => {
    dialog.value = undefined;
  };
  if (open === undefined) return null;
  if (typeof open === 'object') return <PersonDialog id={open.about} onClose={onClose} />;
  switch (open) {
    case 'invite':
      return <InviteDialog onClose={onClose} />;
    case 'rename':
      return <RenameDialog onClose={onClose} />;
    case 'retitle':
      return <RetitleDialog onClose={onClose} />;
    case 'rotate':
      return (
        <ConfirmDialog
          title={texts.rotate.heading}
          text={texts.rotate.text}
          cancelLabel={texts.cancel}
          confirmLabel={texts.rotate.confirm}
          onConfirm={() => session.rotate()}
          onClose={onClose}
        />
      );
    case 'forget':
      return (
        <ConfirmDialog
          title={texts.forget.heading}
          text={texts.forget.text}
          cancelLabel={texts.cancel}
          confirmLabel={texts.forget.confirm}
          danger
          onConfirm={session.forget}
          onClose={onClose}
        />
      );
    case 'burn':
      return (
        <ConfirmDialog
          title={texts.burn.heading}
          text={texts.burn.text}
          cancelLabel={texts.cancel}
          confirmLabel={texts.burn.confirm}
          danger
          onConfirm={session.burn}
          onClose={onClose}
        />
      );
  }
}

function RenameDialog({ onClose }: { onClose: () => void }) {
  const { session } = useRoom();
  return (
    <Dialog title={texts.rename.heading} closeLabel={texts.close} onClose={onClose}>
      <Form
        submitLabel={texts.rename.submit}
        onCancel={onClose}
        cancelLabel={texts.cancel}
        onSubmit={async (values) => {
          const name = tidy(String(values.get('name')), MAX_NAME);
          if (!name) return;
          ownName.set(name);
          await session.rename(name);
          onClose();
        }}
      >
        <TextField
          label={texts.start.name}
          name="name"
          required
          maxLength={MAX_NAME}
          defaultValue={session.secrets.value.name}
          autofocus
        />
      </Form>
    </Dialog>
  );
}

function RetitleDialog({ onClose }: { onClose: () => void }) {
  const { session } = useRoom();
  return (
    <Dialog title={texts.retitle.heading} closeLabel={texts.close} onClose={onClose}>
      <Form
        submitLabel={texts.retitle.submit}
        onCancel={onClose}
        cancelLabel={texts.cancel}
        onSubmit={async (values) => {
          const title = tidy(String(values.get('title')), MAX_TITLE);
          if (!title) return;
          await session.send([{ kind: 'title', title }]);
          onClose();
        }}
      >
        <TextField
          label={texts.start.roomTitle}
          name="title"
          required
          maxLength={MAX_TITLE}
          defaultValue={session.conversation.value.title}
          autofocus
        />
      </Form>
    </Dialog>
  );
}

/** Creates or changes a channel: name, topic, who can read it. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../shared/components/dialog.js';
import { Checkbox, Form, TextField } from '../../shared/components/form.js';
import type { Channel } from '../contract.js';
import { useCommandKey } from '../settings/use-command-key.js';
import { type ChannelInput, channelChanges } from '../state/channel-changes.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { show } from '../workspace/view.js';
import { MemberPicker } from './member-picker.js';

export function ChannelDialog({ channel: now, onClose }: { channel?: Channel | undefined; onClose: () => void }) {
  const { actions, user } = useWorkspace();
  const [channel] = useState(now);
  const keyOf = useCommandKey();
  const [isPrivate, setPrivate] = useState(channel?.isPrivate ?? false);
  const [members, setMembers] = useState<readonly string[]>(channel?.members ?? [user.id]);

  async function submit(values: FormData) {
    const input = {
      name: String(values.get('name')).trim(),
      topic: String(values.get('topic')).trim(),
      isPrivate,
      members: isPrivate ? members : (channel?.members ?? []),
    };
    if (channel) await save(channel, input);
    else show((await actions.createChannel(input, keyOf(input))).id);
    onClose();
  }

  async function save(opened: Channel, input: ChannelInput) {
    const changes = channelChanges(opened, now ?? opened, input);
    if (Object.keys(changes).length > 0) await actions.updateChannel(opened.id, changes);
  }

  return (
    <Dialog title={channel ? texts.editChannel : texts.newChannel} closeLabel={texts.close} onClose={onClose}>
      <Form
        submitLabel={channel ? texts.save : texts.create}
        cancelLabel={texts.cancel}
        onCancel={onClose}
        onSubmit={submit}
      >
        <TextField
          label={texts.channelName}
          name="name"
          required
          maxLength={80}
          autoFocus
          autocomplete="off"
          defaultValue={channel?.name ?? ''}
        />
        <TextField
          label={texts.channelTopic}
          hint={texts.channelTopicHint}
          name="topic"
          maxLength={500}
          autocomplete="off"
          defaultValue={channel?.topic ?? ''}
        />
        <Checkbox
          label={texts.privateChannel}
          checked={isPrivate}
          onChange={(event) => setPrivate(event.currentTarget.checked)}
        />
        {isPrivate && (
          <MemberPicker members={members} creatorId={channel?.createdBy ?? user.id} onChange={setMembers} />
        )}
      </Form>
    </Dialog>
  );
}

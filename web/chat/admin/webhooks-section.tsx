/** The webhooks of the server. */
import { Plus, Trash2, Webhook as WebhookIcon } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { ConfirmDialog } from '../../shared/components/dialog.js';
import { Empty } from '../../shared/components/states.js';
import { relativeTime, Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import { http } from '../api.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { CreateWebhook } from './create-webhook.js';
import { loadNames, type Names } from './directory.js';

const texts = adminTexts.webhooks;

export interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly channelId: string;
  readonly createdAt: number;
  readonly createdBy: string;
}

async function load(signal: AbortSignal) {
  const [{ webhooks }, names] = await Promise.all([
    http.json<{ webhooks: readonly Webhook[] }>('GET', 'webhooks', { signal }),
    loadNames(signal),
  ]);
  return { webhooks, names };
}

export function WebhooksSection() {
  const webhooks = useLoad(load);
  const [dialog, setDialog] = useState<'create' | Webhook>();
  const close = () => setDialog(undefined);

  async function remove(id: string) {
    await http.send('DELETE', `webhooks/${encodeURIComponent(id)}`);
    toast({ text: texts.removed });
    await webhooks.reload();
  }

  return (
    <>
      <div class="settings-head">
        <p class="quiet">{texts.hint}</p>
        <Button variant="main" icon={Plus} disabled={!webhooks.value} onClick={() => setDialog('create')}>
          {texts.create}
        </Button>
      </div>
      <Loaded of={webhooks} loadingLabel={settingsTexts.loading} retryLabel={settingsTexts.retry}>
        {({ webhooks: all, names }) => (
          <>
            {all.length === 0 && <Empty icon={WebhookIcon} title={texts.none} children={texts.noneHint} />}
            <ul class="settings-rows">
              {all.map((each) => (
                <WebhookRow key={each.id} webhook={each} names={names} onRemove={() => setDialog(each)} />
              ))}
            </ul>
            {dialog === 'create' && (
              <CreateWebhook channels={names.channels} onClose={close} onCreated={() => void webhooks.reload()} />
            )}
          </>
        )}
      </Loaded>
      {typeof dialog === 'object' && (
        <ConfirmDialog
          title={texts.removeTitle(dialog.name)}
          text={texts.removeText}
          confirmLabel={settingsTexts.remove}
          cancelLabel={settingsTexts.cancel}
          danger
          onConfirm={() => remove(dialog.id)}
          onClose={close}
        />
      )}
    </>
  );
}

function WebhookRow({ webhook, names, onRemove }: { webhook: Webhook; names: Names; onRemove: () => void }) {
  const { name, channelId, createdAt, createdBy } = webhook;
  const channel = names.channels.get(channelId);
  return (
    <li>
      <div class="about">
        <strong>{name}</strong>
        <p>
          {channel === undefined ? texts.deletedChannel : `# ${channel}`} ·{' '}
          {texts.by(names.users.get(createdBy) ?? texts.removedUser)}{' '}
          <Time at={createdAt}>{relativeTime(createdAt)}</Time>
        </p>
      </div>
      <IconButton danger icon={Trash2} label={texts.removeLabel(name)} onClick={onRemove} />
    </li>
  );
}

/** Creating a webhook; then its token, shown once, with an example to try. */
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Form, SelectField, TextField } from '../../shared/components/form.js';
import { http } from '../api.js';
import { useCommandKey } from '../settings/use-command-key.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { curlExample } from './curl-example.js';
import type { Webhook } from './webhooks-section.js';

const texts = adminTexts.webhooks;

type Created = Webhook & { readonly token: string };

interface CreateWebhookProps {
  /** Names by id. */
  readonly channels: ReadonlyMap<string, string>;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

export function CreateWebhook({ channels, onClose, onCreated }: CreateWebhookProps) {
  const keyOf = useCommandKey();
  const [created, setCreated] = useState<Created>();
  if (created) return <CreatedWebhook webhook={created} onClose={onClose} />;
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Form
        submitLabel={texts.createLabel}
        cancelLabel={settingsTexts.cancel}
        onCancel={onClose}
        onSubmit={async (values) => {
          const body = { name: values.get('name'), channelId: values.get('channelId') };
          const options = { body, idempotencyKey: keyOf(body) };
          const { webhook } = await http.json<{ webhook: Created }>('POST', 'webhooks', options);
          setCreated(webhook);
          onCreated();
        }}
      >
        <TextField label={texts.name} hint={texts.nameHint} name="name" required maxLength={80} autocomplete="off" />
        <SelectField label={texts.channel} name="channelId" required>
          {[...channels].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      </Form>
    </Dialog>
  );
}

function CreatedWebhook({ webhook: { id, name, token }, onClose }: { webhook: Created; onClose: () => void }) {
  const address = new URL(`webhooks/${encodeURIComponent(id)}/messages`, location.href).href;
  const example = curlExample(address, token, texts.exampleText);
  return (
    <Dialog title={texts.createdTitle(name)} onClose={onClose} wide>
      <p>{texts.tokenHint}</p>
      <Secret label={texts.token} text={token} />
      <Secret label={texts.example} text={example} />
      <div class="dialog-actions">
        <Button variant="main" onClick={onClose}>
          {settingsTexts.done}
        </Button>
      </div>
    </Dialog>
  );
}

const Secret = ({ label, text }: { label: string; text: string }) => (
  <figure class="copyable">
    <figcaption>
      {label}
      <CopyButton text={text} label={settingsTexts.copy} copiedLabel={settingsTexts.copied} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
    <pre tabIndex={0}>{text}</pre>
  </figure>
);

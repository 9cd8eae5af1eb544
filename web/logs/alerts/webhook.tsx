/** Where alerts are sent, whether they are, and how often; with a test. */
import { Send } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Form, TextField } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import type { AlertPolicy } from '../contract.js';
import { texts } from '../texts.js';
import { changePolicy, testWebhook } from './alerts-state.js';
import { NumberField, numberOf } from './fields.js';

export function Webhook({ policy }: { policy: AlertPolicy }) {
  const { webhookUrl, enabled, intervalMs, cooldownMs } = policy;
  const [isEditing, edit] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const [isSwitching, setSwitching] = useState(false);

  async function attempt(setBusy: (busy: boolean) => void, action: () => Promise<string>) {
    setBusy(true);
    try {
      toast({ text: await action() });
    } catch (error) {
      toast({ text: messageOf(error), tone: 'bad' });
    } finally {
      setBusy(false);
    }
  }

  const switchOn = () =>
    attempt(setSwitching, async () => {
      await changePolicy({ enabled: !enabled });
      return enabled ? texts.alerts.off : texts.alerts.on;
    });

  const test = () =>
    attempt(setTesting, async () => {
      const { targetUrl, status } = await testWebhook();
      return texts.alerts.testSent(targetUrl, status);
    });

  return (
    <section class="card alert-section">
      <div class="section-head">
        <h3>{texts.alerts.delivery}</h3>
        <span class={enabled ? 'tag on' : 'tag'}>{enabled ? texts.alerts.on : texts.alerts.off}</span>
        <span class="spacer" />
        <Button small onClick={() => edit(true)}>
          {texts.alerts.edit}
        </Button>
        {webhookUrl !== null && (
          <>
            <Button small icon={Send} busy={isTesting} onClick={test}>
              {texts.alerts.test}
            </Button>
            <Button small {...(!enabled && { variant: 'main' as const })} busy={isSwitching} onClick={switchOn}>
              {enabled ? texts.alerts.turnOff : texts.alerts.turnOn}
            </Button>
          </>
        )}
      </div>
      <p>{webhookUrl === null ? texts.alerts.noWebhook : <code class="url">{webhookUrl}</code>}</p>
      <p class="quiet">{texts.alerts.timing(shown(intervalMs / 1000), shown(cooldownMs / 60_000))}</p>
      {isEditing && <WebhookDialog policy={policy} onClose={() => edit(false)} />}
    </section>
  );
}

const shown = (value: number) => String(Math.round(value * 100) / 100);

function WebhookDialog({ policy, onClose }: { policy: AlertPolicy; onClose: () => void }) {
  async function save(values: FormData) {
    const url = String(values.get('webhookUrl') ?? '').trim();
    await changePolicy({
      webhookUrl: url === '' ? null : url,
      intervalMs: numberOf(values, 'interval', { min: 1, factor: 1000 }),
      cooldownMs: numberOf(values, 'cooldown', { factor: 60_000 }),
      webhookTimeoutMs: numberOf(values, 'timeout', { min: 0.01, factor: 1000 }),
      webhookRetryAttempts: numberOf(values, 'attempts'),
      webhookBackoffMs: numberOf(values, 'backoff'),
      // The first URL is added to be used.
      ...(policy.webhookUrl === null && url !== '' && { enabled: true }),
    });
    toast({ text: texts.alerts.saved });
    onClose();
  }
  return (
    <Dialog title={texts.alerts.delivery} onClose={onClose}>
      <Form submitLabel={texts.alerts.save} cancelLabel={texts.alerts.cancel} onSubmit={save} onCancel={onClose}>
        <TextField
          label={texts.alerts.webhookUrl}
          hint={texts.alerts.webhookHint}
          name="webhookUrl"
          type="url"
          placeholder="https://hooks.example.com/annals"
          maxLength={2048}
          defaultValue={policy.webhookUrl ?? ''}
          autoFocus
        />
        <details>
          <summary>{texts.alerts.advanced}</summary>
          <div class="form">
            <NumberField
              label={texts.alerts.intervalSeconds}
              name="interval"
              min={1}
              value={policy.intervalMs / 1000}
            />
            <NumberField label={texts.alerts.cooldownMinutes} name="cooldown" value={policy.cooldownMs / 60_000} />
            <NumberField
              label={texts.alerts.webhookTimeoutSeconds}
              name="timeout"
              min={0.01}
              value={policy.webhookTimeoutMs / 1000}
            />
            <NumberField
              label={texts.alerts.webhookRetryAttempts}
              name="attempts"
              value={policy.webhookRetryAttempts}
            />
            <NumberField label={texts.alerts.webhookBackoffMs} name="backoff" value={policy.webhookBackoffMs} />
          </div>
        </details>
      </Form>
    </Dialog>
  );
}

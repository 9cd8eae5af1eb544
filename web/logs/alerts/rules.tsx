/** The rules of the service: many errors, and no records; each can be edited, the second created and deleted. */
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { ConfirmDialog, Dialog } from '../../shared/components/dialog.js';
import { Form } from '../../shared/components/form.js';
import { toast } from '../../shared/components/toasts.js';
import type { AlertPolicy } from '../contract.js';
import { texts } from '../texts.js';
import { changePolicy } from './alerts-state.js';
import { NumberField, numberOf } from './fields.js';

const SUGGESTED_SILENCE_MINUTES = 15;

type Editing = 'errors' | 'silence' | 'remove';

export function Rules({ policy }: { policy: AlertPolicy }) {
  const { errorThreshold, windowMinutes, noLogsThresholdMinutes: silence } = policy;
  const [editing, edit] = useState<Editing>();
  const close = () => edit(undefined);
  return (
    <section class="card alert-section">
      <div class="section-head">
        <h3>{texts.alerts.rules}</h3>
      </div>
      <ul class="rules">
        <li>
          <div>
            <strong>{texts.alerts.errors}</strong>
            <p class="quiet">{texts.alerts.errorsText(errorThreshold, windowMinutes)}</p>
          </div>
          <Button small onClick={() => edit('errors')}>
            {texts.alerts.edit}
          </Button>
        </li>
        <li>
          <div>
            <strong>{texts.alerts.silence}</strong>
            <p class="quiet">{silence > 0 ? texts.alerts.silenceText(silence) : texts.alerts.silenceOff}</p>
          </div>
          {silence > 0 && (
            <Button small variant="danger" onClick={() => edit('remove')}>
              {texts.alerts.remove}
            </Button>
          )}
          <Button small onClick={() => edit('silence')}>
            {silence > 0 ? texts.alerts.edit : texts.alerts.create}
          </Button>
        </li>
      </ul>
      {editing === 'errors' && <ErrorsDialog policy={policy} onClose={close} />}
      {editing === 'silence' && <SilenceDialog policy={policy} onClose={close} />}
      {editing === 'remove' && (
        <ConfirmDialog
          title={texts.alerts.removeTitle}
          text={texts.alerts.removeText}
          confirmLabel={texts.alerts.remove}
          danger
          onConfirm={() => changePolicy({ noLogsThresholdMinutes: 0 })}
          onClose={close}
        />
      )}
    </section>
  );
}

interface DialogProps {
  readonly policy: AlertPolicy;
  readonly onClose: () => void;
}

async function save(changes: Partial<AlertPolicy>, onClose: () => void) {
  await changePolicy(changes);
  toast({ text: texts.alerts.saved });
  onClose();
}

function ErrorsDialog({ policy, onClose }: DialogProps) {
  const submit = (values: FormData) =>
    save(
      {
        errorThreshold: numberOf(values, 'errorThreshold', { min: 1 }),
        windowMinutes: numberOf(values, 'windowMinutes', { min: 1 }),
      },
      onClose,
    );
  return (
    <Dialog title={texts.alerts.errors} onClose={onClose}>
      <Form submitLabel={texts.alerts.save} onSubmit={async (values) => submit(values)} onCancel={onClose}>
        <NumberField
          label={texts.alerts.errorThreshold}
          hint={texts.alerts.errorThresholdHint}
          name="errorThreshold"
          min={1}
          value={policy.errorThreshold}
        />
        <NumberField label={texts.alerts.windowMinutes} name="windowMinutes" min={1} value={policy.windowMinutes} />
      </Form>
    </Dialog>
  );
}

function SilenceDialog({ policy, onClose }: DialogProps) {
  const { noLogsThresholdMinutes: silence } = policy;
  const submit = (values: FormData) =>
    save({ noLogsThresholdMinutes: numberOf(values, 'minutes', { min: 1 }) }, onClose);
  return (
    <Dialog title={texts.alerts.silence} onClose={onClose}>
      <Form submitLabel={texts.alerts.save} onSubmit={async (values) => submit(values)} onCancel={onClose}>
        <NumberField
          label={texts.alerts.noLogsThresholdMinutes}
          name="minutes"
          min={1}
          value={silence > 0 ? silence : SUGGESTED_SILENCE_MINUTES}
        />
      </Form>
    </Dialog>
  );
}

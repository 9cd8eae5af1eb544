/** The alerts that rules raised, newest first, with a way to their records. */
import { BellOff } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { Empty } from '../../shared/components/states.js';
import { fullTime, relativeTime, Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import type { Alert } from '../contract.js';
import { viewHref } from '../explore/view.js';
import { texts } from '../texts.js';
import { absoluteRange } from '../time/range.js';
import { alerts, hasOlder, loadOlder } from './alerts-state.js';

export function History() {
  const [isBusy, setBusy] = useState(false);
  const shown = alerts.value ?? [];
  async function older() {
    setBusy(true);
    await loadOlder().catch((error: unknown) => toast({ text: messageOf(error), tone: 'bad' }));
    setBusy(false);
  }
  return (
    <section class="card alert-section">
      <div class="section-head">
        <h3>{texts.alerts.history}</h3>
      </div>
      {shown.length === 0 ? (
        <Empty icon={BellOff} title={texts.alerts.noHistory}>
          <span>{texts.alerts.noHistoryHint}</span>
        </Empty>
      ) : (
        <ul class="alert-history">
          {shown.map((alert) => (
            <AlertRow key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
      {hasOlder.value && (
        <Button small busy={isBusy} onClick={older}>
          {texts.alerts.more}
        </Button>
      )}
    </section>
  );
}

function AlertRow({ alert }: { alert: Alert }) {
  const { rule, severity, state, triggeredAt, resolvedAt, resolution } = alert;
  const at = Date.parse(triggeredAt);
  return (
    <li>
      <span class={`tag state-${state}`}>{texts.alerts.states[state]}</span>
      <div class="what">
        <strong>{texts.alerts.ruleNames[rule]}</strong> <span class="quiet">{texts.alerts.severities[severity]}</span>
        <p>{detailsText(alert)}</p>
        <p class="quiet">
          <Time at={at}>{`${fullTime(at)} (${relativeTime(at)})`}</Time>
          {resolvedAt !== null && (
            <>
              {' · '}
              {texts.alerts.lasted} <Time at={Date.parse(resolvedAt)}>{relativeTime(Date.parse(resolvedAt))}</Time>
              {resolution && `, ${texts.alerts.resolutions[resolution]}`}
            </>
          )}
        </p>
        <p class={alert.webhook.delivered ? 'quiet' : 'undelivered'}>
          {texts.alerts.webhook}: {webhookText(alert)}
        </p>
      </div>
      {rule === 'error_threshold' && <a href={recordsHref(alert)}>{texts.alerts.showRecords}</a>}
    </li>
  );
}

function detailsText({ rule, details }: Alert): string {
  const number = (name: string) => Number(details[name]);
  if (rule === 'error_threshold' && Number.isFinite(number('errorCount')))
    return texts.alerts.raisedErrors(number('errorCount'), number('windowMinutes'), number('threshold'));
  if (rule === 'no_logs' && Number.isFinite(number('thresholdMinutes')))
    return texts.alerts.silenceText(number('thresholdMinutes')) + lastRecordText(details.lastRecordAt);
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}

function lastRecordText(at: unknown): string {
  const last = typeof at === 'string' ? Date.parse(at) : Number(at ?? Number.NaN);
  return Number.isFinite(last) ? texts.alerts.lastRecord(fullTime(last)) : '';
}

function webhookText({ webhook: { delivered, attempts, reason } }: Alert): string {
  if (delivered) return texts.alerts.delivered(attempts);
  return reason === undefined ? texts.alerts.pending : texts.alerts.notDelivered(reason);
}

/** The errors of the window before the alert. */
function recordsHref({ triggeredAt, details }: Alert): string {
  const at = Date.parse(triggeredAt);
  const minutes = Number(details.windowMinutes) || 5;
  return viewHref({
    text: 'level:ERROR,FATAL',
    range: absoluteRange(at - minutes * 60_000, at),
    order: 'desc',
    live: false,
    refreshSeconds: 0,
    columns: [],
  });
}

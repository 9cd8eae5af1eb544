/** Alerting, put together: what the log service adds to its routes, reactions and periodic work. */
import { createWebhooks } from '../../../adapters/outbound/webhook/deliver.js';
import { deliveryReaction } from '../../../application/logs/alerts/deliver.js';
import { createEvaluation } from '../../../application/logs/alerts/evaluate.js';
import { createAlertHistory } from '../../../application/logs/alerts/history.js';
import { createAlerts } from '../../../application/logs/alerts/manage.js';
import { createTrial } from '../../../application/logs/alerts/test-webhook.js';
import type { RecordCounts } from '../../../application/logs/ports.js';
import type { Logger } from '../../../application/ports/index.js';
import type { Kernel } from '../../node/kernel.js';
import type { Periodic } from '../../node/service.js';

export interface AlertingOptions {
  readonly kernel: Kernel;
  readonly counts: RecordCounts;
  readonly logger: Logger;
  readonly release: string;
  /** Webhooks may go to private addresses too. */
  readonly allowPrivateWebhooks: boolean;
  readonly webhookSecret?: string;
  /** Where people find the log service; asked when an alert goes out. */
  readonly serviceUrl: () => string;
  /** Ends a delivery that is under way. */
  readonly signal: AbortSignal;
}

/** How soon the evaluation is taken up again after it failed. */
const RESUME_MS = 1000;

export function connectAlerting({ kernel, counts, logger, release, serviceUrl, signal, ...options }: AlertingOptions) {
  const { allowPrivateWebhooks, webhookSecret } = options;
  const webhooks = createWebhooks({
    allowPrivate: allowPrivateWebhooks,
    userAgent: `annals/${release}`,
    ...(webhookSecret ? { secret: webhookSecret } : {}),
  });
  const ports = { ...kernel, counts, webhooks, logger, serviceUrl, signal };
  const { evaluate, watch } = createEvaluation({ ...ports, context: kernel.systemContext });
  const periodic: Periodic = { name: 'logs.alerts', everyMs: RESUME_MS, run: watch };
  return {
    alerts: createAlerts({ ...ports, evaluate }),
    history: createAlertHistory(kernel),
    tryWebhook: createTrial(ports),
    evaluate,
    reaction: deliveryReaction(ports),
    periodic,
  };
}

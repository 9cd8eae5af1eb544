/** Composes alerting of the log service: its part of the routes, reactions and periodic jobs. */
import { createWebhooks } from '../../../adapters/outbound/webhook/deliver.js';
import { deliveryReaction } from '../../../application/logs/alerts/deliver.js';
import { createEvaluation, type RecordCounts } from '../../../application/logs/alerts/evaluate.js';
import { createAlertHistory } from '../../../application/logs/alerts/history.js';
import { createAlerts } from '../../../application/logs/alerts/manage.js';
import { createWebhookTester } from '../../../application/logs/alerts/test-webhook.js';
import type { Logger } from '../../../application/ports/index.js';
import type { Kernel } from '../../node/kernel.js';
import type { Periodic } from '../../node/service.js';

export interface AlertingOptions {
  readonly kernel: Kernel;
  readonly counts: RecordCounts;
  readonly logger: Logger;
  readonly release: string;
  /** Permits webhooks to private addresses. */
  readonly allowPrivateWebhooks: boolean;
  readonly webhookSecret: string | undefined;
  /** Public address of the log service; read when an alert is sent. */
  readonly serviceUrl: () => string;
  /** Aborts a running delivery. */
  readonly signal: AbortSignal;
}

/** Delay before a failed evaluation is retried. */
const RESUME_MS = 1000;

export function connectAlerting({ kernel, counts, logger, release, serviceUrl, signal, ...options }: AlertingOptions) {
  const { allowPrivateWebhooks, webhookSecret } = options;
  const webhooks = createWebhooks({
    allowPrivate: allowPrivateWebhooks,
    userAgent: `annals/${release}`,
    secret: webhookSecret,
  });
  const ports = { ...kernel, counts, webhooks, logger, serviceUrl, signal };
  const { evaluate, watch, onEvent } = createEvaluation({ ...ports, context: kernel.systemContext });
  const periodic: Periodic = { name: 'logs.alerts', everyMs: RESUME_MS, run: watch };
  return {
    alerts: createAlerts({ ...ports, evaluate }),
    history: createAlertHistory(kernel),
    tryWebhook: createWebhookTester(ports),
    evaluate,
    onEvent,
    reaction: deliveryReaction(ports),
    periodic,
  };
}

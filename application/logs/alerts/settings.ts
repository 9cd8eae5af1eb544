/** Settings of alerting; the alert policy itself is changed through the API. */
import type { Settings } from '../../config/setting.js';

export const alertSettings = {
  'logs.appUrl': {
    type: 'string',
    description: 'Public address of the log service, sent with alerts; default: the address it listens on',
  },
  'logs.webhookSecret': {
    type: 'string',
    minLength: 16,
    secret: true,
    description: 'Secret that signs webhook alerts, in the header X-Annals-Signature',
  },
  'logs.allowPrivateWebhooks': {
    type: 'boolean',
    description: 'Allow webhooks to private networks; default: only if the service listens on loopback',
  },
} as const satisfies Settings;

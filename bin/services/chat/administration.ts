/** Composes administration of the chat: server settings, webhooks, audit log, export and presence. */
import { adminRoutes } from '../../../adapters/http/chat/admin.js';
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { presenceRoutes } from '../../../adapters/http/chat/presence.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { serverRoutes } from '../../../adapters/http/chat/server-settings.js';
import { webhookRoutes } from '../../../adapters/http/chat/webhooks.js';
import type { Audit } from '../../../application/chat/admin/audit-log.js';
import { createExport } from '../../../application/chat/admin/export.js';
import { createServer } from '../../../application/chat/admin/server-settings.js';
import { createWebhooks } from '../../../application/chat/admin/webhooks.js';
import { createPresence, presenceWork, SWEEP_EVERY_MS } from '../../../application/chat/people/presence.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { Logger } from '../../../application/ports/index.js';
import { audit as auditRows } from '../../../projections/chat/audit.js';
import { presence as presenceRows } from '../../../projections/chat/presence.js';
import type { Kernel } from '../../node/kernel.js';
import type { Messaging } from './messaging.js';

export const administrationProjections = [presenceRows, auditRows];

export interface AdministrationContext {
  readonly kernel: Kernel;
  readonly admission: Authentication;
  readonly guards: AuthGuards;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly quotas: ChatQuotas;
  readonly messaging: Pick<Messaging, 'messages' | 'rowMapper' | 'downloads'>;
}

export function createAdministration({
  kernel,
  admission,
  audit,
  guards,
  logger,
  quotas,
  messaging,
}: AdministrationContext) {
  const ports = { ...kernel, messages: messaging.messages, opened: messaging.rowMapper, admission, audit, logger };
  const presence = createPresence(ports);
  return {
    presence,
    periodic: [{ name: presenceWork(kernel.node), everyMs: SWEEP_EVERY_MS, run: presence.sweep }],
    routes: [
      ...serverRoutes({ guards, server: createServer(ports) }),
      ...webhookRoutes({ guards, webhooks: createWebhooks(ports), quotas }),
      ...presenceRoutes({ guards, presence }),
      ...adminRoutes({ guards, audit, exportData: createExport(ports), downloads: messaging.downloads }),
    ],
  };
}

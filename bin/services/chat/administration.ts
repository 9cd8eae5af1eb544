/** What admins do with the chat, put together, and what all see of each other: settings of the server, webhooks, presence. */
import { adminRoutes } from '../../../adapters/http/chat/admin.js';
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { presenceRoutes } from '../../../adapters/http/chat/presence.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { serverRoutes } from '../../../adapters/http/chat/server.js';
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
import type { Talk } from './messaging.js';

export const administrationProjections = [presenceRows, auditRows];

export interface AdministrationContext {
  readonly kernel: Kernel;
  readonly admission: Authentication;
  readonly doors: AuthGuards;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly quotas: ChatQuotas;
  readonly talk: Pick<Talk, 'messages' | 'opened' | 'downloads'>;
}

export function createAdministration({ kernel, admission, audit, doors, logger, quotas, talk }: AdministrationContext) {
  const ports = { ...kernel, ...talk, admission, audit, logger };
  const presence = createPresence(ports);
  return {
    presence,
    periodic: [{ name: presenceWork(kernel.node), everyMs: SWEEP_EVERY_MS, run: presence.sweep }],
    routes: [
      ...serverRoutes({ doors, server: createServer(ports) }),
      ...webhookRoutes({ doors, webhooks: createWebhooks(ports), quotas }),
      ...presenceRoutes({ doors, presence }),
      ...adminRoutes({ doors, audit, exported: createExport(ports), downloads: talk.downloads }),
    ],
  };
}

/** The configured mail server, for all services that send mail. */
import { isLoopback } from '../../adapters/http/server/client-network.js';
import type { SmtpOptions } from '../../adapters/outbound/mail/smtp.js';
import type { Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';

export function smtpOf(values: AnnalsValues, logger: Logger): SmtpOptions {
  const host = values['email.host'] ?? '';
  const user = values['email.user'];
  return {
    host,
    port: values['email.port'],
    secure: values['email.secure'],
    user,
    password: values['email.password'],
    from: values['email.from'] ?? (user?.includes('@') ? user : `annals@${host}`),
    maxRetries: values['email.maxRetries'],
    isLocal: host === 'localhost' || isLoopback(host),
    logger,
  };
}

/** Settings of mail, for all services that send it. */
import { boolean, integer, type Settings } from '../config/setting.js';

export const mailSettings = {
  'email.host': { type: 'string', minLength: 1, description: 'SMTP server; if not set, no mail is sent' },
  'email.port': integer(587, 'SMTP port', { maximum: 65535 }),
  'email.secure': boolean(false, 'Use implicit TLS; otherwise STARTTLS if the server offers it'),
  'email.user': { type: 'string', minLength: 1, description: 'SMTP user name' },
  'email.password': { type: 'string', minLength: 1, secret: true, description: 'SMTP password' },
  'email.from': { type: 'string', minLength: 3, description: 'Sender address; default email.user' },
  'email.maxRetries': integer(8, 'Retries of a mail that was not accepted', { minimum: 0, maximum: 100 }),
} as const satisfies Settings;

/** Sends mail over SMTP with nodemailer; retries unless the server refuses it permanently. */
import { sleep } from '../../../application/concurrency/index.js';
import type { Logger, Mail, Mailer } from '../../../application/ports/index.js';

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly from: string;
  readonly maxRetries: number;
  /** For a server on this machine: its certificate is not verified. */
  readonly isLocal: boolean;
  readonly logger: Logger;
}

const CONNECTIONS = 4;
const SILENCE_MS = 10_000;
const BACKOFF_MS = { first: 500, most: 60_000 };

export function createMailer(options: SmtpOptions): Mailer & { close(): Promise<void> } {
  const { host, port, secure, user, password: pass, from, maxRetries, isLocal, logger } = options;
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      host,
      port,
      secure,
      pool: true,
      maxConnections: CONNECTIONS,
      connectionTimeout: SILENCE_MS,
      greetingTimeout: SILENCE_MS,
      socketTimeout: 3 * SILENCE_MS,
      ...(user !== undefined && { auth: { user, pass } }),
      ...(isLocal && { tls: { rejectUnauthorized: false } }),
    });
  };
  /** Loaded for the first mail, not at start. */
  let transport: ReturnType<typeof open> | undefined;

  const post = async ({ id, to, subject, text, html, headers = {} }: Mail) => {
    transport ??= open();
    const messageId = `<${id}@${domainOf(from)}>`;
    return (await transport).sendMail({ from, to, subject, text, html, messageId, headers });
  };

  async function send(mail: Mail, signal: AbortSignal): Promise<boolean> {
    for (let tried = 0, wait = BACKOFF_MS.first; ; tried++, wait = Math.min(2 * wait, BACKOFF_MS.most)) {
      signal.throwIfAborted();
      try {
        await post(mail);
        return true;
      } catch (error) {
        const isFinal = tried >= maxRetries || isRefused(error);
        logger.warn({ err: withoutAddress(error), mail: mail.id, tried, isFinal }, 'cannot send mail');
        if (isFinal) return false;
      }
      await sleep(wait, signal);
    }
  }

  return { send, close: async () => (await transport)?.close() };
}

const REFUSALS = ['EENVELOPE', 'EMESSAGE'];
const PERMANENT = 500;

/** Whether recipient or mail is refused permanently (RFC 5321, 4.2.1); errors of the connection may be fixed meanwhile. */
const isRefused = (error: unknown): boolean => {
  const { code, responseCode = PERMANENT } = error as {
    readonly code?: string;
    readonly responseCode?: number;
  };
  return code !== undefined && REFUSALS.includes(code) && responseCode >= PERMANENT;
};

/** Keeps only fields without the recipient's address, which the server's answer may contain. */
const withoutAddress = (error: unknown) => {
  const { code, responseCode, command } = error as { [name: string]: unknown };
  return { code, responseCode, command };
};

const domainOf = (from: string) => /@([^\s>]+)/.exec(from)?.[1] ?? 'annals';

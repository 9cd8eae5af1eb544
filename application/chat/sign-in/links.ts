/** Links of the chat: to sign in, to accept an invite, and to set a password; and their mails. */
import { catalog } from '../../../domain/chat/catalog.js';
import { linksSubject, type Purpose } from '../../../domain/chat/events/sign-in.js';
import { isEmail } from '../../../domain/shared/index.js';
import { type EmailContent, type EmailCopy, renderLinkEmail } from '../../mail/link-email.js';
import {
  createOneTimeLinks,
  type LinkPorts,
  type LinkRequested,
  linkMailReaction,
  type OneTimeLinks,
} from '../../mail/one-time-links.js';
import type { Mailer } from '../../ports/index.js';
import type { Reaction } from '../../subscription/index.js';
import { linksAggregate } from '../aggregates.js';
import type { ChatPorts } from './authenticate.js';

export interface ChatLinkPorts
  extends Omit<LinkPorts<Purpose>, 'service' | 'aggregate' | 'subject' | 'lifeSeconds' | 'recipientOf'>,
    Pick<ChatPorts, 'admission'> {
  readonly isInviteRequired: boolean;
  readonly magicLinkExpirySeconds: number;
  readonly inviteExpirySeconds: number;
}

export type Links = OneTimeLinks<Purpose>;

export const createLinks = (ports: ChatLinkPorts): Links =>
  createOneTimeLinks({
    ...ports,
    service: 'chat',
    aggregate: linksAggregate,
    subject: linksSubject,
    lifeSeconds: {
      'magic-link': ports.magicLinkExpirySeconds,
      reset: ports.magicLinkExpirySeconds,
      invite: ports.inviteExpirySeconds,
    },
    async recipientOf(purpose, email) {
      const user = await ports.admission.user({ email });
      const maySignUp = purpose === 'magic-link' && !ports.isInviteRequired && isEmail(email);
      return { userId: user?.id, email: user || !maySignUp ? '' : email };
    },
  });

type Template = (link: string, expiryMinutes: number) => string;

export interface Templates {
  readonly text?: Template | undefined;
  readonly html?: Template | undefined;
}

export interface MailPorts extends Pick<ChatPorts, 'decryptEvent' | 'derivation' | 'logger' | 'admission'> {
  readonly mailer: Mailer;
  readonly links: Links;
  readonly appUrl: () => string;
  /** In password mode an invite asks for a first password. */
  readonly takesPasswords: boolean;
  readonly subject: string;
  readonly templates: Templates;
  /** Aborts sending; it is retried at the next start. */
  readonly signal: AbortSignal;
}

export const mailReaction = (ports: MailPorts): Reaction<LinkRequested> =>
  linkMailReaction<Purpose>({
    ...ports,
    name: 'chat.mail',
    async addressOf(event) {
      const { userId } = event.data;
      if (userId !== undefined) return (await ports.admission.user({ id: userId }))?.email;
      const { data } = await ports.decryptEvent<LinkRequested>(catalog, event);
      return data.secret.email || undefined;
    },
    pageOf(purpose) {
      const url = new URL(ports.appUrl());
      const setsPassword = purpose === 'reset' || (purpose === 'invite' && ports.takesPasswords);
      if (setsPassword) url.pathname = `${url.pathname.replace(/\/$/, '')}/reset`;
      return url;
    },
    deliver: ({ id, to, purpose, link, minutes }) =>
      ports.mailer.send({ id, to, ...renderEmail(purpose, link, minutes, ports) }, ports.signal),
  });

const WORDS: { readonly [purpose in Purpose]: EmailCopy } = {
  'magic-link': { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' },
  invite: { subject: 'You are invited', what: 'You are invited. Join with this link:', button: 'Join' },
  reset: { subject: 'Set your password', what: 'Set a password with this link:', button: 'Set a password' },
};

export function renderEmail(
  purpose: Purpose,
  link: string,
  expiryMinutes: number,
  { subject, templates }: { readonly subject: string; readonly templates: Templates },
): EmailContent {
  const isSignIn = purpose === 'magic-link';
  const words = isSignIn ? { ...WORDS[purpose], subject } : WORDS[purpose];
  const email = renderLinkEmail(words, link, expiryMinutes);
  const own = isSignIn ? templates : {};
  return {
    ...email,
    text: own.text?.(link, expiryMinutes) ?? email.text,
    html: own.html?.(link, expiryMinutes) ?? email.html,
  };
}

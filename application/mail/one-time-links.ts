/** One-time links sent by mail: request, issue, verify, use; and the process manager that mails them. */

import {
  addressStream,
  badLinkOf,
  isRejection,
  type LinkCommand,
  type LinkEvent,
  type LinksState,
  type Rejection,
  tidyEmail,
  usableLink,
} from '../../domain/shared/index.js';
import type { Aggregate, Handled, KernelPorts } from '../command/index.js';
import type { CommandContext, EventLog, RecordedEvent, SignedTokens, Vault } from '../ports/index.js';
import { causedBy, type Reaction } from '../subscription/index.js';

/** Who may get the mail: a user, or someone with this address; neither if the address may have no link. */
export interface Recipient {
  readonly userId?: string | undefined;
  readonly email: string;
}

export interface LinkPorts<Purpose extends string>
  extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'renew'>;
  readonly signed: SignedTokens;
  /** Prefix of streams and derived ids. */
  readonly service: string;
  readonly aggregate: Aggregate<LinksState, LinkCommand, LinkEvent>;
  /** Subject of the key that seals the address until the link expires. */
  readonly subject: (link: { readonly expiresAt: number }) => string;
  /** Seconds a link is valid. */
  readonly lifeSeconds: { readonly [purpose in Purpose]: number };
  recipientOf(purpose: Purpose, email: string): Promise<Recipient>;
}

interface LinkId<Purpose> {
  readonly addressId: string;
  readonly purpose: Purpose;
  readonly linkId: string;
}

export interface LinkToken<Purpose> extends LinkId<Purpose> {
  readonly email: string;
}

interface IssuedLink {
  readonly purpose: string;
  readonly linkId: string;
  readonly email: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
}

const DAY_SECONDS = 86_400;

export type OneTimeLinks<Purpose extends string> = ReturnType<typeof createOneTimeLinks<Purpose>>;

export function createOneTimeLinks<Purpose extends string>(ports: LinkPorts<Purpose>) {
  const { handle, aggregates, log, vault, derivation, signed, clock, service, aggregate, lifeSeconds } = ports;
  const badLink = badLinkOf(service);
  const longest = Math.max(...Object.values<number>(lifeSeconds));

  const addressOf = (email: string) => derivation.id(`${service}.address`, email);
  const audienceOf = (purpose: string) => `annals:${service}:${purpose}`;
  const run = (command: LinkCommand, context: CommandContext, beforeAppend?: () => Promise<void>) =>
    handle(aggregate, addressStream(service, command.addressId), command, context, beforeAppend);

  return {
    /**
     * Does the same whether or not the address may have a link, so that it does not reveal users. `isLimited`: too many
     * requests, so no link is mailed.
     */
    async request(purpose: Purpose, rawEmail: string, context: CommandContext) {
      const email = tidyEmail(rawEmail);
      const addressId = addressOf(email);
      const stream = addressStream(service, addressId);
      const recipient = await ports.recipientOf(purpose, email);
      const now = clock.now();
      // Whole seconds, as in the token.
      const expiresAt = (Math.floor(now / 1000) + lifeSeconds[purpose]) * 1000;
      const linkId = derivation.id(`${service}.link`, context.commandId);
      const createKeyAndRetention = async () => {
        const isNew = (await aggregates.load(aggregate, stream)).revision < 0;
        await Promise.all([
          vault.renew(ports.subject({ expiresAt })),
          isNew ? log.retain(stream, { maxAgeSeconds: longest + DAY_SECONDS }) : undefined,
        ]);
      };
      const command = { type: 'RequestLink' as const, addressId, purpose, linkId, expiresAt, ...recipient, now };
      const outcome = await run(command, context, createKeyAndRetention);
      if (isRejection(outcome)) return outcome;
      return { position: outcome.position, isLimited: outcome.events.length === 0 };
    },

    /** Deterministic: the same link yields the same token. */
    token: ({ purpose, linkId, email, requestedAt, expiresAt }: IssuedLink): Promise<string> =>
      signed.sign({
        sub: email,
        aud: audienceOf(purpose),
        jti: linkId,
        iat: Math.floor(requestedAt / 1000),
        exp: Math.floor(expiresAt / 1000),
      }),

    /** Verifies a token for one of the purposes; `email`, if present, must match. */
    async read(
      token: string | undefined,
      purposes: readonly Purpose[],
      email?: string,
    ): Promise<LinkToken<Purpose> | Rejection> {
      const claims = token === undefined ? undefined : await signed.read(token);
      if (!claims) return badLink;
      const { sub, aud, jti: linkId } = claims;
      const purpose = purposes.find((each) => audienceOf(each) === aud);
      if (purpose === undefined || typeof sub !== 'string' || typeof linkId !== 'string') return badLink;
      if (email !== undefined && tidyEmail(email) !== sub) return badLink;
      return { addressId: addressOf(sub), purpose, linkId, email: sub };
    },

    spend: (
      { addressId, purpose, linkId }: LinkId<Purpose>,
      context: CommandContext,
    ): Promise<Handled<LinksState> | Rejection> =>
      run({ type: 'SpendLink', addressId, purpose, linkId, now: clock.now() }, context),

    async record({ addressId, purpose, linkId }: LinkId<string>, isSent: boolean, context: CommandContext) {
      const outcome = await run({ type: 'RecordMail', addressId, purpose, linkId, isSent, now: clock.now() }, context);
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    },

    /** Whether this is the newest link of its purpose and its mail is not sent yet. */
    async isPending({ addressId, purpose, linkId }: LinkId<string>): Promise<boolean> {
      const { state } = await aggregates.reload(aggregate, addressStream(service, addressId));
      const link = usableLink(state, { purpose, linkId, now: clock.now() });
      return link !== undefined && !link.isDone;
    },
  };
}

export type LinkRequested = Extract<LinkEvent, { type: 'LinkRequested' }>;

export interface LinkMail<Purpose> {
  /** Stable over all attempts to send it. */
  readonly id: string;
  readonly to: string;
  readonly purpose: Purpose;
  readonly link: string;
  /** Minutes the link is valid. */
  readonly minutes: number;
}

export interface LinkMailPorts<Purpose extends string> extends Pick<KernelPorts, 'derivation' | 'logger'> {
  /** Of the process manager. */
  readonly name: string;
  readonly links: Pick<OneTimeLinks<Purpose>, 'isPending' | 'token' | 'record'>;
  /** Returns the address to mail; undefined if it may not have a link. */
  readonly addressOf: (event: RecordedEvent<LinkRequested>) => Promise<string | undefined>;
  /** Page that links of this purpose open. */
  readonly pageOf: (purpose: Purpose) => URL;
  /** Resolves false if the mail is given up. */
  readonly deliver: (mail: LinkMail<Purpose>) => Promise<boolean>;
}

/** Mails requested links, also after a crash; addresses that may not have one get no mail. */
export function linkMailReaction<Purpose extends string>(ports: LinkMailPorts<Purpose>): Reaction<LinkRequested> {
  const { name, links, addressOf, pageOf, deliver, derivation, logger } = ports;

  async function mail(event: RecordedEvent<LinkRequested>) {
    const { data } = event;
    // Already sent, expired, or superseded by a newer link.
    if (!(await links.isPending(data))) return;
    const email = await addressOf(event);
    if (email === undefined) return;
    const { linkId: id, requestedAt, expiresAt } = data;
    // Only `request` writes these events.
    const purpose = data.purpose as Purpose;
    const url = pageOf(purpose);
    url.searchParams.set('token', await links.token({ ...data, email }));
    url.searchParams.set('email', email);
    const minutes = Math.round((expiresAt - requestedAt) / 60_000);
    const isSent = await deliver({ id, to: email, purpose, link: url.href, minutes });
    if (!isSent) logger.error({ purpose, link: id }, 'mail could not be delivered; giving up');
    await links.record(data, isSent, causedBy(derivation, name, event));
  }

  return { name, on: { LinkRequested: mail }, concurrent: true };
}

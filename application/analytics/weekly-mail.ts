/** Weekly mails about a site: subscribing, unsubscribing without sign-in, and sending them on Mondays. */
import { type AnalyticsEvent, subscriptionSubject } from '../../domain/analytics/catalog.js';
import { parseSiteId } from '../../domain/analytics/site-fields.js';
import { SITES, type Site, siteNotFound } from '../../domain/analytics/sites.js';
import {
  dueWeek,
  findSubscription,
  isTimeZone,
  periodOfWeek,
  type Subscription,
  WEEKLY_MAILS,
} from '../../domain/analytics/weekly-mail.js';
import { isRejection, rejection, sameText } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import { type CommandContext, type ConfirmedClock, type Mailer, UnavailableError, type Vault } from '../ports/index.js';
import { collectFailures, type Reaction } from '../subscription/index.js';
import { sitesAggregate, weeklyMailsAggregate } from './aggregates.js';
import type { DashboardSession } from './login.js';
import type { Reports } from './report.js';
import { baseUrl, type SiteDirectory } from './sites.js';
import { MAIL_ROWS, renderWeeklyMail } from './weekly-mail-content.js';

export interface WeeklyMailPorts
  extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'logger' | 'context'> {
  readonly vault: Pick<Vault, 'create'>;
  readonly clock: ConfirmedClock;
  readonly directory: SiteDirectory;
  readonly reports: Reports;
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined;
  /** Whether an email may sign in, and so may see reports. */
  readonly isAllowed: (email: string) => boolean;
  readonly appUrl: () => string;
}

/** The caller; undefined without an address, as with the admin token. */
type Subscriber = Pick<DashboardSession, 'addressId' | 'email'> | undefined;

/** Milliseconds between checks for due mails. */
export const WEEKLY_MAIL_EVERY_MS = 5 * 60_000;

const noAddress = rejection('analytics/no-address', 'forbidden', 'Sign in by a mailed link to get mails');
const noMail = rejection('analytics/no-mail', 'conflict', 'This server sends no mail: email.host is not set');
const badTimeZone = rejection('analytics/bad-time-zone', 'invalid', 'timeZone must be a name such as Europe/Berlin');
const badLink = rejection('analytics/bad-unsubscribe-link', 'not-found', 'This link is not valid');

export type WeeklyMails = ReturnType<typeof createWeeklyMails>;

export function createWeeklyMails(ports: WeeklyMailPorts) {
  const { handle, aggregates, derivation, context, vault, clock, directory, reports, mailer, logger } = ports;

  const siteOf = async (id: string) => {
    const siteId = parseSiteId(id) ?? '';
    return (await directory.find([siteId]))(siteId);
  };
  const subscriptionOf = async ({ instance }: Site, { addressId }: NonNullable<Subscriber>) =>
    findSubscription((await aggregates.reload(weeklyMailsAggregate, WEEKLY_MAILS)).state, { instance, addressId });

  const stop = (subscriptionId: string, of: CommandContext) =>
    handle(weeklyMailsAggregate, WEEKLY_MAILS, { type: 'UnsubscribeWeeklyMail', subscriptionId, now: clock.now() }, of);

  const tokenOf = (subscriptionId: string): string =>
    `${subscriptionId}.${derivation.secret('analytics.unsubscribe-token', subscriptionId).toString('base64url')}`;

  /**
   * Sends the mail of a week. It is claimed first, so that it is sent at most once; what fails before that is retried.
   * The command id is new each time: a repeated command would get the answer of the first one, and send again.
   */
  async function send(
    { subscriptionId, email }: Subscription,
    { siteId, name }: Site,
    week: string,
    signal: AbortSignal,
  ) {
    // One more than is shown, as `(other)` is left out.
    const report = await reports(siteId, periodOfWeek(week), { limit: MAIL_ROWS + 1 });
    if (isRejection(report)) throw new Error(report.rejected);
    // Its numbers would be too low, and a claimed week is not mailed again.
    if (report.consistency) throw new UnavailableError('the report is behind the event log');
    const command = { type: 'ClaimWeeklyMail' as const, subscriptionId, week, now: clock.now() };
    const claimed = await handle(weeklyMailsAggregate, WEEKLY_MAILS, command, context('analytics.weekly-mail'));
    if (isRejection(claimed)) throw new Error(claimed.rejected);
    if (claimed.events.length === 0) return;
    const base = baseUrl(ports.appUrl());
    const unsubscribe = `${base}/unsubscribe?token=${tokenOf(subscriptionId)}`;
    const { start, end } = report.body.range;
    const content = renderWeeklyMail(report.body, {
      name,
      reportUrl: `${base}/?site=${siteId}&start=${start}&end=${end}`,
      unsubscribeUrl: unsubscribe,
    });
    const headers = {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    };
    const isSent = await mailer?.send({ id: `${subscriptionId}.${week}`, to: email, headers, ...content }, signal);
    if (!isSent) logger.error({ subscription: subscriptionId, week }, 'weekly mail could not be delivered; giving up');
  }

  return {
    /** Whether the person gets mails about the site. */
    async find(id: string, subscriber: Subscriber) {
      const site = await siteOf(id);
      if (!site) return siteNotFound;
      return subscriber !== undefined && (await subscriptionOf(site, subscriber)) !== undefined;
    },

    async subscribe(id: string, subscriber: Subscriber, timeZone: string, of: CommandContext) {
      const site = await siteOf(id);
      if (!site) return siteNotFound;
      if (!subscriber) return noAddress;
      if (!mailer) return noMail;
      if (!isTimeZone(timeZone)) return badTimeZone;
      const { siteId, instance } = site;
      const { addressId, email } = subscriber;
      const subscriptionId = derivation.id('analytics.subscription', of.commandId);
      const subscription = { subscriptionId, siteId, instance, addressId, email, timeZone };
      const command = { type: 'SubscribeWeeklyMail' as const, ...subscription, now: clock.now() };
      const createKey = () => vault.create(subscriptionSubject({ subscriptionId }));
      return handle(weeklyMailsAggregate, WEEKLY_MAILS, command, of, createKey);
    },

    async unsubscribe(id: string, subscriber: Subscriber, of: CommandContext) {
      const site = await siteOf(id);
      if (!site) return siteNotFound;
      const found = subscriber && (await subscriptionOf(site, subscriber));
      // Also without a subscription, as a repetition finds none.
      return stop(found?.subscriptionId ?? '', of);
    },

    /** Unsubscribes by the link of a mail. */
    async unsubscribeByToken(token: string, contextOf: (subscriptionId: string) => CommandContext) {
      const subscriptionId = token.split('.', 1)[0] ?? '';
      return sameText(token, tokenOf(subscriptionId)) ? stop(subscriptionId, contextOf(subscriptionId)) : badLink;
    },

    /** Sends what is due: only the newest week, however many have passed. */
    async sendDue(signal: AbortSignal): Promise<void> {
      const { state } = await aggregates.reload(weeklyMailsAggregate, WEEKLY_MAILS);
      const isDue = (now: number) => (each: Subscription) => dueWeek(now, each.timeZone) > each.week;
      // Confirming the time costs the event store a write, so do it only if a mail may be due.
      if (![...state.values()].some(isDue(clock.now()))) return;
      const now = await clock.confirmedNow();
      if (now === undefined) return;
      // From the log: a subscription ends with its site, which may be unknown to the cache of this node yet.
      const sites = (await aggregates.reload(sitesAggregate, SITES)).state;
      const failures = collectFailures();
      for (const each of [...state.values()].filter(isDue(now))) {
        if (signal.aborted) break;
        const site = sites.get(each.siteId);
        if (site?.instance !== each.instance) await stop(each.subscriptionId, context('analytics.weekly-mail'));
        else if (ports.isAllowed(each.email)) await failures.run(send(each, site, dueWeek(now, each.timeZone), signal));
      }
      failures.throwFirst();
    },
  };
}

/** Destroys the key of an ended subscription: its address can no longer be read. */
export const endSubscriptionReaction = (
  vault: Pick<Vault, 'destroy'>,
): Reaction<AnalyticsEvent<'WeeklyMailUnsubscribed'>> => ({
  name: 'analytics.end-subscriptions',
  on: { WeeklyMailUnsubscribed: ({ data }) => vault.destroy(subscriptionSubject(data)) },
});

/** Composes the analytics service. */
import { createSignedTokens } from '../../adapters/crypto/signed-tokens.js';
import { createAdminAuthenticator, SECURITY } from '../../adapters/http/analytics/admission.js';
import { authRoutes } from '../../adapters/http/analytics/auth.js';
import { collectRoute } from '../../adapters/http/analytics/collect.js';
import { analyticsPolicy } from '../../adapters/http/analytics/policy.js';
import { publicRoutes } from '../../adapters/http/analytics/public.js';
import { reportRoutes } from '../../adapters/http/analytics/reports.js';
import { siteRoutes } from '../../adapters/http/analytics/sites.js';
import { weeklyMailRoutes } from '../../adapters/http/analytics/weekly-mail.js';
import { createBurstLimit, createProxyCheck } from '../../adapters/http/server/client-network.js';
import { createLinkLimit } from '../../adapters/http/server/link-request.js';
import { openapiRoute } from '../../adapters/http/server/openapi.js';
import { stateAtRoute } from '../../adapters/http/server/state-at-route.js';
import { createMailer } from '../../adapters/outbound/mail/smtp.js';
import { createUserAgentParser } from '../../adapters/outbound/user-agent-parser.js';
import { publicUrl } from '../../adapters/platform/process/format-url.js';
import { createLiveHits } from '../../adapters/realtime/analytics/live-hits.js';
import { createHitCollector } from '../../application/analytics/collect-hits.js';
import {
  createDailyVisitorKeys,
  destroyKeyReaction,
  END_DAYS_INTERVAL_MS,
} from '../../application/analytics/daily-visitor-keys.js';
import { eraseReaction } from '../../application/analytics/erase-site-reaction.js';
import {
  cleanupRound,
  createCleanup,
  createRetentionReader,
  expireReaction,
} from '../../application/analytics/expire-days.js';
import { createHitBatcher } from '../../application/analytics/hit-batcher.js';
import { createRequestStore } from '../../application/analytics/idempotent-collect.js';
import { createLogins, loginMailReaction } from '../../application/analytics/login.js';
import { analyticsThings } from '../../application/analytics/past-states.js';
import { createDayCount, createReports } from '../../application/analytics/report.js';
import { createSiteDirectory, createSites, forgetEnded } from '../../application/analytics/sites.js';
import { createRecentAttempts } from '../../application/analytics/validate-hits.js';
import {
  createWeeklyMails,
  endSubscriptionReaction,
  WEEKLY_MAIL_EVERY_MS,
} from '../../application/analytics/weekly-mail.js';
import { createStateAt, describeKinds } from '../../application/audit/index.js';
import { createGroupCommit } from '../../application/command/index.js';
import { createDayKeyExpiry, DAY_KEY_EXPIRY_EVERY_MS } from '../../application/secrets/index.js';
import { RETENTION_EVERY_MS } from '../../application/subscription/index.js';
import { catalog, loginsSubjectOf } from '../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../domain/analytics/hit.js';
import { tidyEmail } from '../../domain/shared/index.js';
import { days as daysModel } from '../../projections/analytics/daily-counts.js';
import { createDayReader } from '../../projections/analytics/daily-counts-reader.js';
import { createRawCounter, raw as rawModel } from '../../projections/analytics/raw.js';
import type { Service } from '../node/service.js';
import { smtpOf } from '../node/smtp.js';
import type { AnnalsValues } from '../settings.js';
import { describeSignIn, summarizeSignIn, unsentLinksWarning } from './analytics/sign-in.js';
import { analytics as definition } from './definitions/analytics.js';

export const analytics: Service<typeof definition.catalog> = {
  ...definition,
  port: (values) => values['analytics.port'],
  connect({ kernel, values, release, metrics, logger, signal, url, horizon }) {
    const { log, vault, clock, handle, aggregates, derivation, appended, systemContext: context } = kernel;
    const { projectionProgress, served, mongo } = kernel;
    const days = createDayReader({ db: mongo.models, vault, build: served.collectionOf(daysModel.name) });
    const origin = { service: 'analytics', release };
    const appUrl = values['analytics.appUrl'];
    const dashboardUrl = publicUrl(appUrl, url);
    const directory = createSiteDirectory(aggregates);
    const sites = createSites({
      handle,
      aggregates,
      directory,
      vault,
      derivation,
      clock,
      countDays: createDayCount(days, projectionProgress),
      appUrl: dashboardUrl,
    });
    const visitorKeys = createDailyVisitorKeys({ handle, aggregates, vault, clock, context });
    const appender = createGroupCommit({ log, logger, appended });
    const storeRaw = values['analytics.storeRaw'];
    const hitBatcher = createHitBatcher({ appender, aggregates, origin, storeRaw });
    const attempts = createRecentAttempts();
    const agents = createUserAgentParser();
    for (const { cache } of [hitBatcher, attempts, agents, days]) metrics.cache(cache);
    const filterBots = values['analytics.filterBots'];
    const honorDoNotTrack = values['analytics.honorDoNotTrack'];
    const retentionDays = values['analytics.retentionDays'];
    const countryHeader = values['analytics.countryHeader']?.toLowerCase();
    const collect = createHitCollector({
      directory,
      isTokenOf: sites.isTokenOf,
      agents,
      visitorKeys,
      batcher: hitBatcher,
      requests: createRequestStore({ log, origin, retentionDays, appended }),
      attempts,
      clock,
      limit: createBurstLimit(values['analytics.hitsPerMinute']),
      filterBots,
      storeRaw,
    });
    const raw = createRawCounter(mongo.models, served.collectionOf(rawModel.name));
    const rawRetentionHours = values['analytics.rawRetentionHours'];
    const retention = { retentionDays, rawRetentionHours };
    const cleanup = createCleanup({ handle, clock, projectionProgress, days, raw, ...retention });
    const live = createLiveHits({
      hitsOf: async (event) => (await kernel.decryptEvent<HitsCollected>(catalog, event)).data.secret.hits,
      from: horizon,
      head: kernel.head,
      clock,
      observe: metrics.relay('analytics'),
      failed: (err) => logger.error({ err }, 'the live view could not read hits and waits'),
    });
    const reports = createReports({
      directory,
      days,
      projectionProgress,
      clock,
      retention: createRetentionReader(aggregates),
      retentionDays,
    });
    const configuredToken = values['analytics.adminToken'];
    // Derived, so that it is the same after every start and on every node.
    const adminToken = configuredToken ?? derivation.secret('analytics.admin-token').toString('base64url');
    const isAllowed = isAllowedBy(values);
    const signed = createSignedTokens(derivation.secret('analytics.signing'));
    const logins = createLogins({ ...kernel, signed, isAllowed });
    const hasEmail = values['email.host'] !== undefined;
    const mailer = hasEmail ? createMailer(smtpOf(values, logger)) : undefined;
    if (mailer) signal.addEventListener('abort', mailer.close, { once: true });
    const warning = unsentLinksWarning(values);
    if (warning !== undefined) logger.warn({}, warning);
    const mail = { ...kernel, mailer, logins, logger, appUrl: dashboardUrl, signal };
    const weeklyMails = createWeeklyMails({
      ...kernel,
      context,
      logger,
      directory,
      reports,
      mailer,
      isAllowed,
      appUrl: dashboardUrl,
    });
    const sharedPerNetwork = createBurstLimit(PUBLIC_PER_MINUTE);
    const policy = analyticsPolicy(release);
    const admit = createAdminAuthenticator(adminToken, logins, appUrl);
    const routes = [
      ...publicRoutes(release),
      ...authRoutes({ admit, logins, linksPerNetwork: createLinkLimit(), appUrl }),
      collectRoute({
        collect,
        honorDoNotTrack,
        countryHeader,
        isProxy: createProxyCheck(values['server.trustedProxies']),
      }),
      ...siteRoutes({
        admit,
        sites,
        directory,
        attempts,
        privacy: {
          honorDoNotTrack,
          filterBots,
          countries: countryHeader !== undefined,
          retentionDays,
          storeRaw,
          rawRetentionHours,
        },
      }),
      stateAtRoute({
        admit,
        security: SECURITY,
        tags: ['Sites'],
        path: '/api/at',
        things: describeKinds(analyticsThings),
        stateAt: createStateAt(kernel, analyticsThings),
      }),
      ...weeklyMailRoutes({ admit, weeklyMails, perNetwork: sharedPerNetwork }),
      ...reportRoutes({
        admit,
        cleanup,
        live,
        directory,
        findShared: sites.findShared,
        sharedPerNetwork,
        reports,
      }),
    ];
    return {
      policy,
      signIn: describeSignIn(values, adminToken),
      signInSummary: summarizeSignIn(values, adminToken),
      routes: [...routes, openapiRoute(policy, routes)],
      handlers: [
        directory.onEvent,
        forgetEnded({ bySite: [days, attempts], byDay: [visitorKeys, hitBatcher] }),
        live.publish,
      ],
      reactions: [
        eraseReaction({ log, vault, aggregates }),
        destroyKeyReaction(vault),
        expireReaction({ log, directory }),
        endSubscriptionReaction(vault),
        ...(hasEmail || values['auth.authMode'] === 'dev' ? [loginMailReaction(mail)] : []),
      ],
      periodic: [
        {
          name: 'analytics.login-keys',
          everyMs: DAY_KEY_EXPIRY_EVERY_MS,
          run: createDayKeyExpiry({ vault, clock, subjectOf: loginsSubjectOf }),
          mayRun: clock.inSync,
        },
        {
          name: 'analytics.visitor-days',
          everyMs: END_DAYS_INTERVAL_MS,
          run: visitorKeys.end,
          mayRun: clock.inSync,
        },
        {
          name: 'analytics.cleanup',
          everyMs: RETENTION_EVERY_MS,
          run: cleanupRound(cleanup, () => context('analytics.cleanup')),
          mayRun: clock.inSync,
        },
        ...(hasEmail
          ? [
              {
                name: 'analytics.weekly-mail',
                everyMs: WEEKLY_MAIL_EVERY_MS,
                run: weeklyMails.sendDue,
                mayRun: clock.inSync,
              },
            ]
          : []),
      ],
      bufferedBytes: live.sizeBytes,
      close: live.close,
    };
  },
};

/** Requests to public links per network and minute; each click in a shared report is one. */
const PUBLIC_PER_MINUTE = 120;

function isAllowedBy(values: AnnalsValues) {
  const emails = new Set(values['analytics.allowedEmails'].map(tidyEmail));
  const domains = new Set(values['analytics.allowedDomains'].map(tidyEmail));
  return (email: string) => emails.has(email) || domains.has(email.slice(email.lastIndexOf('@') + 1));
}

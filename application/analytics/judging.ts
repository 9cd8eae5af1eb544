/** Says of hits whether they count, and of those that do not, why. */
import { hostOfUrl } from '../../domain/analytics/host.js';
import { type Payload, type PayloadRules, type Visit, visitOf } from '../../domain/analytics/payload.js';
import { type Reason, reasonFor } from '../../domain/analytics/rules.js';
import { siteIdOf } from '../../domain/analytics/site-fields.js';
import type { Site } from '../../domain/analytics/sites.js';
import { clean } from '../../domain/analytics/text.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Agents } from '../agents.js';
import type { CommandContext, Position } from '../ports.js';
import type { Attempt } from './attempts.js';
import type { Directory } from './directory.js';

export interface JudgingPorts {
  readonly directory: Pick<Directory, 'find'>;
  readonly isTokenOf: (site: Site, token: string | undefined) => boolean;
  readonly agents: Pick<Agents, 'isBot'>;
  readonly filterBots: boolean;
}

/** What a request says besides its payloads. Address and user agent are digested, and then forgotten. */
export interface Sender {
  readonly address: string;
  readonly userAgent: string;
  /** `DNT` or `Sec-GPC`, where these are honoured. */
  readonly privacySignal: boolean;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  readonly token: string | undefined;
  /** Two capital letters. */
  readonly country: string | undefined;
  /** An `Idempotency-Key` came with it. */
  readonly isKeyed: boolean;
  readonly context: (caller: string) => CommandContext;
  readonly seen: Position | undefined;
}

/** A hit, and why it is ignored; undefined where it counts. */
export interface Judgement {
  readonly siteId: string;
  readonly visit: Visit;
  readonly site: Site | undefined;
  reason: Reason | undefined;
}

/** Of a site that there is not. */
const NO_RULES: PayloadRules = { domains: [], allowedEventProperties: [] };

const namelessEvent = (index: number, of: number): Rejection => ({
  rejected: 'analytics/nameless-event',
  kind: 'invalid',
  detail: of === 1 ? 'event must be a name' : `event of payload ${index + 1} must be a name`,
});

/** Judges the hits of a request, in their order; rejects all where one is an event that nobody could name. */
export const createJudging =
  ({ directory, isTokenOf, agents, filterBots }: JudgingPorts) =>
  async (
    payloads: readonly Payload[],
    { origin, referer, privacySignal, token, seen }: Sender,
    userAgent: string,
  ): Promise<readonly Judgement[] | Rejection> => {
    const ids = payloads.map(({ site }) => siteIdOf(site));
    const find = await directory.find(
      ids.filter((id) => id !== undefined),
      seen,
    );
    const from = origin === undefined ? undefined : { host: hostOfUrl(origin) };
    const judged: Judgement[] = [];
    for (const [index, payload] of payloads.entries()) {
      const site = find(ids[index] ?? '');
      const visit = visitOf(payload, { origin, referer }, site ?? NO_RULES);
      if (!visit) return namelessEvent(index, payloads.length);
      const reason = reasonFor(site, {
        privacySignal,
        host: visit.host,
        origin: from,
        bringsToken: () => site !== undefined && isTokenOf(site, token),
        isBot: () => filterBots && agents.isBot(userAgent),
      });
      judged.push({ siteId: ids[index] ?? clean(payload.site, 80), visit, site, reason });
    }
    return judged;
  };

export const isAccepted = ({ reason }: { readonly reason: Reason | undefined }) => reason === undefined;

/** Of who does not want to be seen nothing is told of where they were. */
export function attemptOf(
  { siteId, visit, reason }: Judgement,
  { privacySignal }: Sender,
  timestamp: string,
): Attempt {
  const { kind, host, hit } = visit;
  const place = { host: host ?? null, path: hit.path, eventName: hit.event ?? null };
  const nowhere = { host: null, path: null, eventName: null };
  return {
    accepted: reason === undefined,
    reason: reason ?? null,
    siteId,
    ...(privacySignal ? nowhere : place),
    kind,
    timestamp,
  };
}

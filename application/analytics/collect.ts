/** Takes hits in: judges each by the rules, forgets who it is of, and answers when it is flushed. */
import type { Hit } from '../../domain/analytics/catalog.js';
import { hostOfUrl } from '../../domain/analytics/host.js';
import { type Payload, type Visit, visitOf } from '../../domain/analytics/payload.js';
import { type Reason, reasonFor } from '../../domain/analytics/rules.js';
import { siteIdOf } from '../../domain/analytics/site-fields.js';
import type { Site } from '../../domain/analytics/sites.js';
import { clean } from '../../domain/analytics/text.js';
import { collected, dayOf, type HitsCollected } from '../../domain/analytics/traffic.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import { cut } from '../../domain/shared/text.js';
import type { Agents } from '../agents.js';
import { type Clock, type CommandContext, type Digester, type Position, Unavailable } from '../ports.js';
import { later } from '../reflecting.js';
import type { Attempts } from './attempts.js';
import type { Collecting, Counted } from './collecting.js';
import type { Directory } from './directory.js';
import type { Requests, StoredRequest } from './requests.js';
import type { VisitorDays } from './visitor-days.js';

export interface CollectPorts {
  readonly directory: Directory;
  readonly isTokenOf: (site: Site, token: string | undefined) => boolean;
  readonly agents: Agents;
  readonly visitorDays: Pick<VisitorDays, 'digester'>;
  readonly collecting: Pick<Collecting, 'add' | 'fresh' | 'told'>;
  readonly requests: Requests;
  readonly attempts: Pick<Attempts, 'note'>;
  readonly clock: Clock;
  /** Of hits by network, where there is one. Told the ms to wait for when it is too many; what is refunded was none. */
  readonly limit?: {
    spend(address: string, hits: number): Promise<number | undefined>;
    refund(address: string, hits: number): Promise<void>;
  };
  readonly filterBots: boolean;
  /** Records are kept for those who look for a fault. */
  readonly storeRaw?: boolean;
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

export type Verdict = { readonly accepted: true } | { readonly accepted: false; readonly reason: Reason };

export interface Judged {
  readonly verdicts: readonly Verdict[];
  /** Of the last append; undefined where nothing was appended. */
  readonly position: Position | undefined;
}

/** Longer ones are cut: what says who somebody is stands at the beginning. */
export const USER_AGENT = 512;

const tooManyHits: Rejection = {
  rejected: 'analytics/too-many-hits',
  kind: 'limit',
  detail: 'Too many hits from this network',
};

const namelessEvent = (index: number, of: number): Rejection => ({
  rejected: 'analytics/nameless-event',
  kind: 'invalid',
  detail: of === 1 ? 'event must be a name' : `event of payload ${index + 1} must be a name`,
});

export type Collect = ReturnType<typeof createCollect>;

export function createCollect(ports: CollectPorts) {
  const { directory, isTokenOf, agents, visitorDays, collecting, requests, attempts, clock } = ports;

  interface Judgement {
    readonly siteId: string;
    readonly visit: Visit;
    readonly site: Site | undefined;
    reason: Reason | undefined;
  }

  return async (payloads: readonly Payload[], sender: Sender): Promise<Judged | Rejection> => {
    const userAgent = cut(sender.userAgent, USER_AGENT);
    const judged = await judge(payloads, sender, userAgent);
    if (isRejection(judged)) return judged;
    const now = clock.now();
    const position = judged.some(isAccepted)
      ? await storeWithin(judged, sender, userAgent, now)
      : await toldBefore(judged, sender, now);
    if (isRejection(position)) return position;
    const timestamp = new Date(now).toISOString();
    for (const each of judged) attempts.note(attemptOf(each, sender, timestamp));
    const verdicts = judged.map(
      ({ reason }): Verdict => (reason ? { accepted: false, reason } : { accepted: true }),
    );
    return { verdicts, position };
  };

  async function judge(
    payloads: readonly Payload[],
    { origin, referer, privacySignal, token, seen }: Sender,
    userAgent: string,
  ): Promise<readonly Judgement[] | Rejection> {
    const ids = payloads.map(({ site }) => siteIdOf(site));
    const find = await directory.find(
      ids.filter((id) => id !== undefined),
      seen,
    );
    const from = origin === undefined ? undefined : { host: hostOfUrl(origin) };
    const judged: Judgement[] = [];
    for (const [index, payload] of payloads.entries()) {
      const site = find(ids[index] ?? '');
      const visit = visitOf(payload, { origin, referer }, site?.allowedEventProperties ?? []);
      if (!visit) return namelessEvent(index, payloads.length);
      const reason = reasonFor(site, {
        privacySignal,
        host: visit.host,
        origin: from,
        bringsToken: () => site !== undefined && isTokenOf(site, token),
        isBot: () => ports.filterBots && agents.isBot(userAgent),
      });
      judged.push({ siteId: ids[index] ?? clean(payload.site, 80), visit, site, reason });
    }
    return judged;
  }

  /** Where these are not too many of one network; what is told again counts towards nothing. */
  async function storeWithin(
    judged: readonly Judgement[],
    sender: Sender,
    userAgent: string,
    now: number,
  ): Promise<Position | undefined | Rejection> {
    const { address } = sender;
    const open = judged.filter(({ reason, site }) => !reason && site?.tokenHash === null).length;
    const retryAfterMs = open > 0 ? await ports.limit?.spend(address, open) : undefined;
    if (retryAfterMs !== undefined)
      return (await toldBefore(judged, sender, now)) ?? { ...tooManyHits, retryAfterMs };
    return store(judged, sender, userAgent, now, () => ports.limit?.refund(address, open));
  }

  /** `again`: it had been stored before. */
  async function store(
    judged: readonly Judgement[],
    sender: Sender,
    userAgent: string,
    now: number,
    again: () => Promise<void> | undefined,
  ): Promise<Position | undefined | Rejection> {
    const digest = await visitorDays.digester(dayOf(now));
    const { address, country } = sender;
    const about = { ...agents.read(userAgent), ...(country !== undefined && { country }) };
    const bySite = new Map<Site, Counted[]>();
    for (const { site, visit, reason } of judged) {
      if (!site || reason) continue;
      const hit: Hit = { ...visit.hit, ...about };
      const counted = bySite.get(site);
      // One request is of one visitor.
      const visitor = counted ? counted[0]!.visitor : visitorOf(digest, site.instance, address, userAgent);
      if (counted) counted.push({ hit, visitor });
      else bySite.set(site, [{ hit, visitor }]);
    }
    if (sender.isKeyed) {
      const context = contextOf(sender, digest);
      const groups = Array.from(bySite, ([site, counted]) => {
        const visitors = new Set(counted.flatMap(({ visitor }) => visitor ?? []));
        return { site, hits: counted.map(({ hit }) => hit), fresh: collecting.fresh(site, now, visitors) };
      });
      const [first, ...others] = groups.map(({ site, hits, fresh }) =>
        collected(site, now, hits, fresh, ports.storeRaw),
      );
      const stored = await requests.store([withReasons(first!, judged), ...others], context);
      if (isRejection(stored)) return stored;
      if (stored.isFirst) for (const { site, fresh } of groups) collecting.told(site, now, fresh);
      else await again();
      return asTold(judged, stored);
    }
    const { correlationId } = sender.context('');
    const positions = Array.from(bySite, async ([site, counted]) => {
      try {
        return await collecting.add(site, now, counted, correlationId);
      } catch (error) {
        if (!(error instanceof Unavailable) || (await isThere(site))) throw error;
        // It was deleted while its hits waited: nothing can be sealed for it any more.
        for (const each of judged) if (each.site === site) each.reason ??= 'unknown_site';
        return 0n;
      }
    });
    const last = (await Promise.all(positions)).reduce(later, 0n);
    return last === 0n ? undefined : last;
  }

  /**
   * Of what is ignored now, perhaps it was counted when it came first, and its site has been changed since. Who does not
   * want to be seen is ignored each time, and looked for nowhere.
   */
  async function toldBefore(
    judged: readonly Judgement[],
    sender: Sender,
    now: number,
  ): Promise<Position | undefined | Rejection> {
    if (!sender.isKeyed || sender.privacySignal || judged.length === 0) return undefined;
    const digest = sender.token === undefined ? await visitorDays.digester(dayOf(now)) : undefined;
    const found = await requests.find(contextOf(sender, digest));
    return found && !isRejection(found) ? asTold(judged, found) : found;
  }

  function asTold(judged: readonly Judgement[], { reasons, position }: StoredRequest): Position {
    for (const [index, each] of judged.entries())
      each.reason = (reasons?.[index] ?? undefined) as Reason | undefined;
    return position;
  }

  async function isThere({ siteId, instance }: Site): Promise<boolean> {
    return (await directory.find([siteId]))(siteId)?.instance === instance;
  }
}

/** The address goes no further than the day's key: nobody can be found by it once the day is over. */
const contextOf = ({ context, token, address }: Sender, digest: Digester | undefined) =>
  context(token ?? digest?.(`${address}\n`) ?? '');

/** Why some were ignored, to be told again. */
function withReasons(
  event: HitsCollected,
  judged: readonly { readonly reason: Reason | undefined }[],
): HitsCollected {
  if (judged.every(isAccepted)) return event;
  return { ...event, data: { ...event.data, reasons: judged.map(({ reason }) => reason ?? null) } };
}

const isAccepted = ({ reason }: { readonly reason: Reason | undefined }) => reason === undefined;

/** A hash of 64 bits, even over all of them. */
export const visitorOf = (
  digest: Digester | undefined,
  instance: string,
  address: string,
  userAgent: string,
) => digest?.(`${instance}\n${address}\n${userAgent}`).slice(0, 16);

/** Of who does not want to be seen nothing is told of where they were. */
function attemptOf(
  { siteId, visit, reason }: { siteId: string; visit: Visit; reason: Reason | undefined },
  { privacySignal }: Sender,
  timestamp: string,
) {
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

/** Takes hits in: stores those that count, forgets who they are of, and answers when they are flushed. */
import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, type HitsCollected, hitsCollected } from '../../domain/analytics/hit-batch.js';
import type { Reason } from '../../domain/analytics/hit-rules.js';
import type { Site } from '../../domain/analytics/sites.js';
import { isRejection, type Rejection, truncate } from '../../domain/shared/index.js';
import { maxPosition } from '../consistency/index.js';
import { type Clock, type Digester, type Position, UnavailableError, type UserAgentParser } from '../ports/index.js';
import type { DailyVisitorKeys } from './daily-visitor-keys.js';
import type { HitBatcher, VisitorHit } from './hit-batcher.js';
import type { RequestStore, StoredRequest } from './idempotent-collect.js';
import type { RecentAttempts } from './recent-attempts.js';
import {
  attemptOf,
  createHitValidator,
  type HitVerdict,
  type InvalidItem,
  type Item,
  isAccepted,
  type HitValidatorPorts,
  type Sender,
} from './validate-hits.js';

export interface CollectPorts extends HitValidatorPorts {
  readonly agents: UserAgentParser;
  readonly visitorDays: Pick<DailyVisitorKeys, 'hasherFor'>;
  readonly collecting: Pick<HitBatcher, 'add' | 'fresh' | 'told'>;
  readonly requests: RequestStore;
  readonly attempts: Pick<RecentAttempts, 'record'>;
  readonly clock: Clock;
  /** Counts one hit of a network, or takes it back; resolves to the ms to wait where it is one too many. */
  readonly limit: {
    spend(address: string): Promise<number | undefined>;
    refund(address: string): Promise<void>;
  };
  /** Records are kept for those who look for a fault. */
  readonly storeRaw?: boolean;
}

export type Verdict =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: Reason; readonly error?: string };

export interface CollectResult {
  readonly verdicts: readonly Verdict[];
  /** Of the last append; undefined where nothing was appended. */
  readonly position: Position | undefined;
  /** When more hits are taken; undefined where none was too many. */
  readonly retryAfterMs?: number | undefined;
}

/** Longer ones are cut: what says who somebody is stands at the beginning. */
export const MAX_USER_AGENT = 512;

const invalidPayload = (detail: string): Rejection => ({
  rejected: 'analytics/invalid-payload',
  kind: 'invalid',
  detail,
});

const tooManyHits: Rejection = {
  rejected: 'analytics/too-many-hits',
  kind: 'limit',
  detail: 'Too many hits from this network',
};

export type Collect = ReturnType<typeof createCollect>;

export function createCollect(ports: CollectPorts) {
  const { directory, agents, visitorDays, collecting, requests, attempts, clock } = ports;
  const judge = createHitValidator(ports);

  return async (items: readonly Item[], sender: Sender): Promise<CollectResult | Rejection> => {
    const userAgent = truncate(sender.userAgent, MAX_USER_AGENT);
    const judged = await judge(items, sender, userAgent);
    const [only] = judged;
    if (!sender.isBatch && only && 'error' in only) return invalidPayload(only.error);
    const now = clock.now();
    const { spent, retryAfterMs } = await spend(judged, sender.address);
    const refund = async () => {
      for (let n = 0; n < spent; n++) await ports.limit.refund(sender.address);
    };
    const position = judged.some(isAccepted)
      ? await store(judged, sender, userAgent, now, refund)
      : await findPreviousResult(judged, sender, now);
    if (isRejection(position)) return position;
    const timestamp = new Date(now).toISOString();
    for (const each of judged) {
      if (!each.visit) continue;
      const instance = each.reason === 'unknown_site' ? undefined : each.site?.instance;
      attempts.record(attemptOf(each, sender, timestamp), instance);
    }
    const isOver = judged.some(({ reason }) => reason === 'too_many_hits');
    if (isOver && !sender.isBatch) return { ...tooManyHits, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return { verdicts: judged.map(verdictOf), position, ...(isOver && { retryAfterMs }) };
  };

  /** Counts the hits that would be taken, in their order; those that are too many of one network are not. */
  async function spend(judged: readonly (HitVerdict | InvalidItem)[], address: string) {
    let spent = 0;
    let retryAfterMs: number | undefined;
    for (const each of judged) {
      // Servers that bring a token send for many people.
      if (each.reason || each.site?.tokenHash !== null) continue;
      retryAfterMs ??= await ports.limit.spend(address);
      if (retryAfterMs === undefined) spent++;
      else each.reason = 'too_many_hits';
    }
    return { spent, retryAfterMs };
  }

  /** `again`: it had been stored before. */
  async function store(
    judged: readonly (HitVerdict | InvalidItem)[],
    sender: Sender,
    userAgent: string,
    now: number,
    again: () => Promise<void>,
  ): Promise<Position | undefined | Rejection> {
    const digest = await visitorDays.hasherFor(dayOf(now));
    const { address, country } = sender;
    const about = { ...agents.read(userAgent), ...(country !== undefined && { country }) };
    const bySite = new Map<Site, VisitorHit[]>();
    for (const { site, visit, reason } of judged) {
      if (!site || !visit || reason) continue;
      const hit: Hit = { ...visit.hit, ...about };
      const counted = bySite.get(site);
      // One request is of one visitor.
      const visitor = counted ? counted[0]!.visitor : visitorOf(digest, site.instance, address, userAgent);
      if (counted) counted.push({ hit, visitor });
      else bySite.set(site, [{ hit, visitor }]);
    }
    if (sender.hasIdempotencyKey) {
      const context = contextOf(sender, digest);
      const groups = Array.from(bySite, ([site, counted]) => {
        const visitors = new Set(counted.flatMap(({ visitor }) => visitor ?? []));
        return { site, hits: counted.map(({ hit }) => hit), fresh: collecting.fresh(site, now, visitors) };
      });
      const [first, ...others] = groups.map(({ site, hits, fresh }) =>
        hitsCollected(site, now, hits, fresh, ports.storeRaw),
      );
      const stored = await requests.store([withReasons(first!, judged), ...others], context);
      if (isRejection(stored)) return stored;
      if (stored.isFirst) for (const { site, fresh } of groups) collecting.told(site, now, fresh);
      else await again();
      return applyStoredVerdicts(judged, stored);
    }
    const { correlationId } = sender.context('');
    const positions = Array.from(bySite, async ([site, counted]) => {
      try {
        return await collecting.add(site, now, counted, correlationId);
      } catch (error) {
        if (!(error instanceof UnavailableError) || (await isThere(site))) throw error;
        // It was deleted while its hits waited: nothing can be sealed for it any more.
        for (const each of judged) if (each.site === site) each.reason ??= 'unknown_site';
        return 0n;
      }
    });
    const last = (await Promise.all(positions)).reduce(maxPosition, 0n);
    return last === 0n ? undefined : last;
  }

  /**
   * Of what is ignored now, perhaps it was counted when it came first, and its site has been changed since. Who does not
   * want to be seen is ignored each time, and looked for nowhere.
   */
  async function findPreviousResult(
    judged: readonly (HitVerdict | InvalidItem)[],
    sender: Sender,
    now: number,
  ): Promise<Position | undefined | Rejection> {
    if (!sender.hasIdempotencyKey || sender.privacySignal || judged.length === 0) return undefined;
    const digest = sender.token === undefined ? await visitorDays.hasherFor(dayOf(now)) : undefined;
    const found = await requests.find(contextOf(sender, digest));
    return found && !isRejection(found) ? applyStoredVerdicts(judged, found) : found;
  }

  function applyStoredVerdicts(
    judged: readonly (HitVerdict | InvalidItem)[],
    { reasons, position }: StoredRequest,
  ): Position {
    for (const [index, each] of judged.entries()) each.reason = (reasons?.[index] ?? undefined) as Reason | undefined;
    return position;
  }

  async function isThere({ siteId, instance }: Site): Promise<boolean> {
    return (await directory.find([siteId]))(siteId)?.instance === instance;
  }
}

function verdictOf(judged: HitVerdict | InvalidItem): Verdict {
  const { reason } = judged;
  if (!reason) return { accepted: true };
  return { accepted: false, reason, ...('error' in judged && { error: judged.error }) };
}

/** The address goes no further than the day's key: nobody can be found by it once the day is over. */
const contextOf = ({ context, token, address }: Sender, digest: Digester | undefined) =>
  context(token ?? digest?.(`${address}\n`) ?? '');

/** Why some were ignored, to be told again. */
function withReasons(event: HitsCollected, judged: readonly { readonly reason: Reason | undefined }[]): HitsCollected {
  if (judged.every(isAccepted)) return event;
  return { ...event, data: { ...event.data, reasons: judged.map(({ reason }) => reason ?? null) } };
}

/** A hash of 64 bits, even over all of them. */
export const visitorOf = (digest: Digester | undefined, instance: string, address: string, userAgent: string) =>
  digest?.(`${instance}\n${address}\n${userAgent}`).slice(0, 16);

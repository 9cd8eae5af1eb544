/** Collects hits: validates, stores the accepted ones and discards the sender's identity. */

import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, type HitsCollected, hitsCollected, type Reason } from '../../domain/analytics/hit.js';
import type { Site } from '../../domain/analytics/sites.js';
import { isRejection, type Rejection, rejection, truncate } from '../../domain/shared/index.js';
import { maxPosition } from '../consistency/index.js';
import { type Clock, type Digester, type Position, UnavailableError, type UserAgentParser } from '../ports/index.js';
import type { DailyVisitorKeys } from './daily-visitor-keys.js';
import type { HitBatcher, VisitorHit } from './hit-batcher.js';
import type { RequestStore, StoredRequest } from './idempotent-collect.js';
import {
  attemptOf,
  createHitValidator,
  type HitValidatorPorts,
  type HitVerdict,
  type InvalidItem,
  type Item,
  isAccepted,
  type RecentAttempts,
  type Sender,
} from './validate-hits.js';

export interface CollectPorts extends HitValidatorPorts {
  readonly agents: UserAgentParser;
  readonly visitorKeys: Pick<DailyVisitorKeys, 'hasherFor'>;
  readonly batcher: Pick<HitBatcher, 'add' | 'newVisitors' | 'recordVisitors'>;
  readonly requests: RequestStore;
  readonly attempts: Pick<RecentAttempts, 'record'>;
  readonly clock: Clock;
  /** Rate limit per network. `spend` resolves to the milliseconds to wait if the hit exceeds it. */
  readonly limit: {
    spend(address: string): Promise<number | undefined>;
    refund(address: string): Promise<void>;
  };
  /** Whether hits are also stored as raw records, for debugging. */
  readonly storeRaw?: boolean;
}

export type Verdict =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: Reason; readonly error?: string };

/** Characters; longer user agents are truncated, as the distinctive part comes first. */
export const MAX_USER_AGENT = 512;

const invalidPayload = (detail: string): Rejection => rejection('analytics/invalid-payload', 'invalid', detail);

const tooManyHits = rejection('analytics/too-many-hits', 'limit', 'Too many hits from this network');

export type Collect = ReturnType<typeof createHitCollector>;

export function createHitCollector(ports: CollectPorts) {
  const { directory, agents, visitorKeys, batcher, requests, attempts, clock } = ports;
  const validate = createHitValidator(ports);

  return async (items: readonly Item[], sender: Sender) => {
    const userAgent = truncate(sender.userAgent, MAX_USER_AGENT);
    const outcomes = await validate(items, sender, userAgent);
    const [only] = outcomes;
    if (!sender.isBatch && only && 'error' in only) return invalidPayload(only.error);
    const now = clock.now();
    const { spent, retryAfterMs } = await spend(outcomes, sender.address);
    const refund = async () => {
      for (let n = 0; n < spent; n++) await ports.limit.refund(sender.address);
    };
    const position = outcomes.some(isAccepted)
      ? await store(outcomes, sender, userAgent, now, refund)
      : await findPreviousResult(outcomes, sender, now);
    if (isRejection(position)) return position;
    const timestamp = new Date(now).toISOString();
    for (const each of outcomes) {
      if (!each.visit) continue;
      const instance = each.reason === 'unknown_site' ? undefined : each.site?.instance;
      attempts.record(attemptOf(each, sender, timestamp), instance);
    }
    const isLimited = outcomes.some(({ reason }) => reason === 'too_many_hits');
    if (isLimited && !sender.isBatch) return { ...tooManyHits, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    // The position of the last append, if anything was appended.
    return { verdicts: outcomes.map(verdictOf), position, ...(isLimited && { retryAfterMs }) };
  };

  /** Charges accepted hits to the network's rate limit, in order, and rejects the excess. */
  async function spend(outcomes: readonly (HitVerdict | InvalidItem)[], address: string) {
    let spent = 0;
    let retryAfterMs: number | undefined;
    for (const each of outcomes) {
      // Servers that authenticate with an ingest token send hits of many visitors: no limit.
      if (each.reason || each.site?.tokenHash !== null) continue;
      retryAfterMs ??= await ports.limit.spend(address);
      if (retryAfterMs === undefined) spent++;
      else each.reason = 'too_many_hits';
    }
    return { spent, retryAfterMs };
  }

  /** `onDuplicate` runs if an earlier run of the request had stored the hits. */
  async function store(
    outcomes: readonly (HitVerdict | InvalidItem)[],
    sender: Sender,
    userAgent: string,
    now: number,
    onDuplicate: () => Promise<void>,
  ): Promise<Position | undefined | Rejection> {
    const hash = await visitorKeys.hasherFor(dayOf(now));
    const { address, country } = sender;
    const client = { ...agents.read(userAgent), ...(country !== undefined && { country }) };
    const bySite = new Map<Site, VisitorHit[]>();
    for (const { site, visit, reason } of outcomes) {
      if (!site || !visit || reason) continue;
      const hit: Hit = { ...visit.hit, ...client };
      const siteHits = bySite.get(site);
      // All hits of a request belong to one visitor.
      const visitor = siteHits ? siteHits[0]!.visitor : visitorOf(hash, site.instance, address, userAgent);
      if (siteHits) siteHits.push({ hit, visitor });
      else bySite.set(site, [{ hit, visitor }]);
    }
    if (sender.hasIdempotencyKey) {
      const context = contextOf(sender, hash);
      const groups = Array.from(bySite, ([site, siteHits]) => {
        const visitors = new Set(siteHits.flatMap(({ visitor }) => visitor ?? []));
        return { site, hits: siteHits.map(({ hit }) => hit), newVisitors: batcher.newVisitors(site, now, visitors) };
      });
      const [first, ...others] = groups.map(({ site, hits, newVisitors }) =>
        hitsCollected(site, now, hits, newVisitors, ports.storeRaw),
      );
      const stored = await requests.store([withReasons(first!, outcomes), ...others], context);
      if (isRejection(stored)) return stored;
      if (stored.isFirst) for (const { site, newVisitors } of groups) batcher.recordVisitors(site, now, newVisitors);
      else await onDuplicate();
      return applyStoredVerdicts(outcomes, stored);
    }
    const { correlationId } = sender.context('');
    const positions = Array.from(bySite, async ([site, siteHits]) => {
      try {
        return await batcher.add(site, now, siteHits, correlationId);
      } catch (error) {
        if (!(error instanceof UnavailableError) || (await siteExists(site))) throw error;
        // The site was deleted while its hits were queued, so they can no longer be encrypted.
        for (const each of outcomes) if (each.site === site) each.reason ??= 'unknown_site';
        return 0n;
      }
    });
    const last = (await Promise.all(positions)).reduce(maxPosition, 0n);
    return last === 0n ? undefined : last;
  }

  /**
   * Finds the result of the request's first run: hits ignored now may have been accepted before the site was changed.
   * Senders with a privacy signal are ignored every time and never looked up.
   */
  async function findPreviousResult(outcomes: readonly (HitVerdict | InvalidItem)[], sender: Sender, now: number) {
    if (!sender.hasIdempotencyKey || sender.privacySignal || outcomes.length === 0) return undefined;
    const hash = sender.token === undefined ? await visitorKeys.hasherFor(dayOf(now)) : undefined;
    const found = await requests.find(contextOf(sender, hash));
    return found && !isRejection(found) ? applyStoredVerdicts(outcomes, found) : found;
  }

  function applyStoredVerdicts(
    outcomes: readonly (HitVerdict | InvalidItem)[],
    { reasons, position }: StoredRequest,
  ): Position {
    for (const [index, each] of outcomes.entries()) each.reason = (reasons?.[index] ?? undefined) as Reason | undefined;
    return position;
  }

  async function siteExists({ siteId, instance }: Site): Promise<boolean> {
    return (await directory.find([siteId]))(siteId)?.instance === instance;
  }
}

function verdictOf(outcome: HitVerdict | InvalidItem): Verdict {
  const { reason } = outcome;
  if (!reason) return { accepted: true };
  return { accepted: false, reason, ...('error' in outcome && { error: outcome.error }) };
}

/** Identifies the caller by a digest of the address under the day's key, which is destroyed after that day. */
const contextOf = ({ context, token, address }: Sender, hash: Digester | undefined) =>
  context(token ?? hash?.(`${address}\n`) ?? '');

/** Records why hits were ignored, so that a repeated request gets the same answer. */
function withReasons(
  event: HitsCollected,
  outcomes: readonly { readonly reason: Reason | undefined }[],
): HitsCollected {
  if (outcomes.every(isAccepted)) return event;
  return { ...event, data: { ...event.data, reasons: outcomes.map(({ reason }) => reason ?? null) } };
}

/** Visitor id: a uniformly distributed 64-bit hash. */
export const visitorOf = (hash: Digester | undefined, instance: string, address: string, userAgent: string) =>
  hash?.(`${instance}\n${address}\n${userAgent}`).slice(0, 16);

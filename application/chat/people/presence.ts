/** Tracks presence: status set by users, open streams at this node, and streams of dead nodes. */

import { randomUUID } from 'node:crypto';
import {
  GRACE_MS,
  type PresenceCommand,
  type PresenceState,
  presence,
  presenceStream,
  type Status,
} from '../../../domain/chat/presence.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type PositionedRow, withRows } from '../../consistency/index.js';
import type { CommandContext, EventLog, Leases, Position } from '../../ports/index.js';
import { presenceAggregate } from '../aggregates.js';
import type { ChatPorts } from '../sign-in/authenticate.js';

export interface PresencePorts
  extends Pick<ChatPorts, 'handle' | 'rows' | 'projectionProgress' | 'clock' | 'logger' | 'admission'> {
  readonly log: Pick<EventLog, 'retain'>;
  readonly leases: Pick<Leases, 'holder'>;
  /** Name of this node, the same after a restart. */
  readonly node: string;
  readonly systemContext: (actor: string) => CommandContext;
  readonly graceMs?: number;
}

interface PresenceRow extends PositionedRow {
  readonly _id: string;
  readonly status: Status;
  readonly lastSeen: number;
  readonly runs: readonly string[];
}

/** A user with open streams at this node, now or within the grace period. */
interface LocalUser {
  streams: number;
  /** Runs when the grace period ends. */
  departureTimer?: NodeJS.Timeout | undefined;
  /** Whether the log says that the user is at this node. */
  isRecorded: boolean;
  isRecording: boolean;
}

export const SWEEP_EVERY_MS = 5000;
const CONCURRENCY = 32;
const SEPARATOR = '~';

/** Periodic work of a node; its lease shows that the node is alive. */
export const presenceWork = (node: string): string => `chat.presence-${node}`;
const nodeOf = (run: string): string => run.slice(0, run.indexOf(SEPARATOR));

export type Presence = ReturnType<typeof createPresence>;

export function createPresence(ports: PresencePorts) {
  const { handle, log, rows, projectionProgress, leases, clock, admission, node, systemContext, logger } = ports;
  const { graceMs = GRACE_MS } = ports;
  const run = `${node}${SEPARATOR}${randomUUID().slice(0, 8)}`;
  const localUsers = new Map<string, LocalUser>();

  async function change(command: PresenceCommand, context: CommandContext) {
    const stream = presenceStream(command.userId);
    const limitStream = async () => {
      // Frequent changes must not fill the log.
      if ((await admission.load(presenceAggregate, stream)).revision < 0) await log.retain(stream, { maxCount: 1 });
    };
    return handle(presenceAggregate, stream, command, context, limitStream);
  }

  const recordConnection = (type: 'Connect' | 'Disconnect', userId: string, at: string) =>
    change({ type, userId, run: at, now: clock.now() }, systemContext('chat.presence'));

  /** Updates the log until it matches the local state. Failures are retried by the next sweep. */
  async function recordPresence(userId: string, each: LocalUser) {
    if (each.isRecording) return;
    each.isRecording = true;
    try {
      for (let isOnline = isPresent(each); isOnline !== each.isRecorded; isOnline = isPresent(each)) {
        await recordConnection(isOnline ? 'Connect' : 'Disconnect', userId, run);
        each.isRecorded = isOnline;
      }
      if (!isPresent(each)) localUsers.delete(userId);
    } catch (error) {
      logger.warn({ err: error }, 'presence could not be recorded; retrying');
    } finally {
      each.isRecording = false;
    }
  }

  const isPresent = ({ streams, departureTimer }: LocalUser) => streams > 0 || departureTimer !== undefined;

  /** Registers an open stream; returns a function to call when it closes. */
  function trackStream(userId: string): () => void {
    const each = localUsers.get(userId) ?? { streams: 0, isRecorded: false, isRecording: false };
    localUsers.set(userId, each);
    each.streams++;
    clearTimeout(each.departureTimer);
    each.departureTimer = undefined;
    void recordPresence(userId, each);
    return () => {
      each.streams--;
      if (each.streams > 0) return;
      const depart = () => {
        each.departureTimer = undefined;
        void recordPresence(userId, each);
      };
      // Must not keep a stopping process alive.
      each.departureTimer = setTimeout(depart, graceMs).unref();
    };
  }

  /** Corrects the log: for users at this node, and for runs of dead nodes. */
  async function sweep(stop: AbortSignal): Promise<void> {
    const known = await rows.find<PresenceRow>('chat.presence', { filter: { isConnected: true } });
    const seen = new Set(known.flatMap(({ _id, runs }) => (runs.includes(run) ? [_id] : [])));
    const stale = await findStaleRuns(known);
    const work = [
      ...stale.map((each) => () => recordConnection('Disconnect', each.userId, each.run)),
      ...[...localUsers].map(([userId, each]) => async () => {
        // Another node considered this one dead while it was paused.
        if (each.isRecorded && !seen.has(userId) && !each.isRecording) each.isRecorded = await isConnected(userId);
        await recordPresence(userId, each);
      }),
    ];
    for (let from = 0; from < work.length && !stop.aborted; from += CONCURRENCY)
      await Promise.all(work.slice(from, from + CONCURRENCY).map((each) => each()));
  }

  const isConnected = async (userId: string) =>
    (await admission.load(presenceAggregate, presenceStream(userId))).state.runs.includes(run);

  /** Runs without a live node: earlier ones of this node, and those of nodes without a lease. */
  async function findStaleRuns(known: readonly PresenceRow[]) {
    const runs = known.flatMap(({ _id: userId, runs }) => runs.map((each) => ({ userId, run: each })));
    const others = new Set(runs.map((each) => nodeOf(each.run)).filter((each) => each !== node));
    const deadNodes = new Set<string>();
    for (const each of others)
      if ((await leases.holder(`periodic:${presenceWork(each)}`)) === undefined) deadNodes.add(each);
    return runs.filter((each) => deadNodes.has(nodeOf(each.run)) || (nodeOf(each.run) === node && each.run !== run));
  }

  async function set(userId: string, status: Status, context: CommandContext) {
    const outcome = await change({ type: 'SetStatus', userId, status, now: clock.now() }, context);
    if (isRejection(outcome)) return outcome;
    return { body: { presence: viewOf(userId, await outcome.state()) }, position: outcome.position };
  }

  /** Presence of all users; without events a user is offline since being added. */
  async function list(seenByCaller?: Position) {
    const freshness = await awaitConsistent(projectionProgress, 'chat.presence', {
      lastAppend: projectionProgress.latestOf('chat'),
      seenByCaller,
    });
    const [found, { state: roster }] = await Promise.all([
      rows.find<PresenceRow>('chat.presence', { filter: {} }),
      admission.roster(seenByCaller),
    ]);
    return { presence: viewsOf(found, roster), ...withRows(freshness, found) };
  }

  return { trackStream, sweep, set, list };
}

const viewOf = (userId: string, { status, lastSeen }: Pick<PresenceState, 'status' | 'lastSeen'>) => ({
  userId,
  status,
  lastSeen,
});

function* viewsOf(found: readonly PresenceRow[], { users }: RosterState) {
  const known = new Map(found.map((row) => [row._id, row]));
  const { initialState } = presence;
  for (const { id, createdAt, isGone } of users.values())
    if (!isGone) yield viewOf(id, known.get(id) ?? { ...initialState, lastSeen: createdAt });
}

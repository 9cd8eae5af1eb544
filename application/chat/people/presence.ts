/** Who is there: as they say, by the streams they have open at this node, and at nodes that are there no more. */
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
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { HandleCommand } from '../../command/index.js';
import { awaitConsistent, type Consistency, type Positioned, withRows } from '../../consistency/index.js';
import type {
  Clock,
  CommandContext,
  EventLog,
  Leases,
  Logger,
  Position,
  ProjectionProgress,
  Rows,
} from '../../ports/index.js';
import { presenceAggregate } from '../aggregates.js';
import type { Authentication } from '../sign-in/authenticate.js';
import type { CommandResult } from '../sign-in/sessions.js';

export interface PresencePorts {
  readonly handle: HandleCommand;
  readonly log: Pick<EventLog, 'retain'>;
  readonly rows: Rows;
  readonly settled: ProjectionProgress;
  readonly leases: Pick<Leases, 'holder'>;
  readonly clock: Clock;
  readonly admission: Authentication;
  /** This node's name: it bears it again when it comes back. */
  readonly node: string;
  readonly systemContext: (actor: string) => CommandContext;
  readonly logger: Logger;
  readonly graceMs?: number;
}

export interface PresenceView {
  readonly userId: string;
  readonly status: Status;
  readonly lastSeen: number;
}

interface PresenceRow extends Positioned {
  readonly _id: string;
  readonly status: Status;
  readonly lastSeen: number;
  readonly runs: readonly string[];
}

/** Somebody who has streams open here, or had just now. */
interface LocalUser {
  streams: number;
  /** Runs when nobody came back in time. */
  departureTimer?: NodeJS.Timeout | undefined;
  /** What was told of them last: that they are here. */
  isRecorded: boolean;
  isRecording: boolean;
}

export const SWEEP_EVERY_MS = 5000;
/** Users that are told of at once. */
const CONCURRENCY = 32;
const SEPARATOR = '~';

/** The periodic work of a node: while the node lives it holds this lease. */
export const presenceWork = (node: string): string => `chat.presence-${node}`;
const nodeOf = (run: string): string => run.slice(0, run.indexOf(SEPARATOR));

export type Presence = ReturnType<typeof createPresence>;

export function createPresence(ports: PresencePorts) {
  const { handle, log, rows, settled, leases, clock, admission, node, systemContext, logger } = ports;
  const { graceMs = GRACE_MS } = ports;
  const run = `${node}${SEPARATOR}${randomUUID().slice(0, 8)}`;
  const localUsers = new Map<string, LocalUser>();

  async function change(command: PresenceCommand, context: CommandContext) {
    const stream = presenceStream(command.userId);
    const before = async () => {
      // Somebody who comes and goes all day must not fill the log.
      if ((await admission.load(presenceAggregate, stream)).revision < 0) await log.retain(stream, { maxCount: 1 });
      return undefined;
    };
    return handle(presenceAggregate, stream, command, context, before);
  }

  const connection = (type: 'Connect' | 'Disconnect', userId: string, at: string) =>
    change({ type, userId, run: at, now: clock.now() }, systemContext('chat.presence'));

  /** Tells the log of somebody until it says what is so. What fails is made up for by the next sweep. */
  async function recordPresence(userId: string, each: LocalUser) {
    if (each.isRecording) return;
    each.isRecording = true;
    try {
      for (let isOnline = isPresent(each); isOnline !== each.isRecorded; isOnline = isPresent(each)) {
        await connection(isOnline ? 'Connect' : 'Disconnect', userId, run);
        each.isRecorded = isOnline;
      }
      if (!isPresent(each)) localUsers.delete(userId);
    } catch (error) {
      logger.warn({ err: error }, 'a presence was not told, trying again');
    } finally {
      each.isRecording = false;
    }
  }

  const isPresent = ({ streams, departureTimer }: LocalUser) => streams > 0 || departureTimer !== undefined;

  /** A stream of theirs was opened here; to be called once it has closed. */
  function opened(userId: string): () => void {
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
      // No reason for a process to go on that has been told to stop.
      each.departureTimer = setTimeout(depart, graceMs).unref();
    };
  }

  /** Makes the log say what is so: of those who are here, and of those who were at runs of nodes that have ended. */
  async function sweep(stop: AbortSignal): Promise<void> {
    const known = await rows.find<PresenceRow>('chat.presence', { filter: { isConnected: true } });
    const seen = new Set(known.flatMap(({ _id, runs }) => (runs.includes(run) ? [_id] : [])));
    const stale = await findStaleRuns(known);
    const work = [
      ...stale.map((each) => () => connection('Disconnect', each.userId, each.run)),
      ...[...localUsers].map(([userId, each]) => async () => {
        // Another node took this one for dead: it was paused.
        if (each.isRecorded && !seen.has(userId) && !each.isRecording) each.isRecorded = await isConnected(userId);
        await recordPresence(userId, each);
      }),
    ];
    for (let from = 0; from < work.length && !stop.aborted; from += CONCURRENCY)
      await Promise.all(work.slice(from, from + CONCURRENCY).map((each) => each()));
  }

  const isConnected = async (userId: string) =>
    (await admission.load(presenceAggregate, presenceStream(userId))).state.runs.includes(run);

  /** Of runs that nobody keeps up: earlier ones of this node, and those of nodes that hold their lease no more. */
  async function findStaleRuns(known: readonly PresenceRow[]) {
    const runs = known.flatMap(({ _id: userId, runs }) => runs.map((each) => ({ userId, run: each })));
    const others = new Set(runs.map((each) => nodeOf(each.run)).filter((each) => each !== node));
    const deadNodes = new Set<string>();
    for (const each of others)
      if ((await leases.holder(`periodic:${presenceWork(each)}`)) === undefined) deadNodes.add(each);
    return runs.filter((each) => deadNodes.has(nodeOf(each.run)) || (nodeOf(each.run) === node && each.run !== run));
  }

  async function set(
    userId: string,
    status: Status,
    context: CommandContext,
  ): Promise<CommandResult<{ readonly presence: PresenceView }> | Rejection> {
    const outcome = await change({ type: 'SetStatus', userId, status, now: clock.now() }, context);
    if (isRejection(outcome)) return outcome;
    return { body: { presence: viewOf(userId, await outcome.state()) }, position: outcome.position };
  }

  /** Of everybody who is a user; who was never there is so since they became one. */
  async function list(seen?: Position): Promise<Consistency & { readonly presence: Iterable<PresenceView> }> {
    const freshness = await awaitConsistent(settled, 'chat.presence', {
      told: settled.latestOf('chat'),
      seen,
    });
    const [found, { state: roster }] = await Promise.all([
      rows.find<PresenceRow>('chat.presence', { filter: {} }),
      admission.roster(seen),
    ]);
    return { presence: viewsOf(found, roster), ...withRows(freshness, found) };
  }

  return { opened, sweep, set, list };
}

const viewOf = (userId: string, { status, lastSeen }: Pick<PresenceState, 'status' | 'lastSeen'>) => ({
  userId,
  status,
  lastSeen,
});

/** Made one by one: there is one of every user. */
function* viewsOf(found: readonly PresenceRow[], { users }: RosterState): Generator<PresenceView> {
  const known = new Map(found.map((row) => [row._id, row]));
  const { initialState } = presence;
  for (const { id, createdAt, isGone } of users.values())
    if (!isGone) yield viewOf(id, known.get(id) ?? { ...initialState, lastSeen: createdAt });
}

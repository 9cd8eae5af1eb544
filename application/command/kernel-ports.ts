/** Ports that use cases take from the kernel. */
import type {
  Clock,
  CommandContext,
  DecryptEvent,
  Derivation,
  EventLog,
  Leases,
  Logger,
  Position,
  ProjectionProgress,
  Rows,
  Subscribe,
  Vault,
} from '../ports/index.js';
import type { AggregateStore } from './aggregate.js';
import type { HandleCommand } from './handle-command.js';
import type { Idempotency } from './idempotency.js';

/** What the kernel offers to use cases, which pick from it what they need. */
export interface KernelPorts {
  readonly handle: HandleCommand;
  readonly idempotency: Idempotency;
  readonly aggregates: AggregateStore;
  readonly log: EventLog;
  readonly follow: Subscribe;
  readonly rows: Rows;
  readonly projectionProgress: ProjectionProgress;
  readonly vault: Vault;
  readonly decryptEvent: DecryptEvent;
  readonly derivation: Derivation;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Position of the newest event in the log. */
  readonly head: () => Promise<Position>;
  /** Creates the context of a command of the system. */
  readonly context: (actor: string) => CommandContext;
  /** Called after every append, before its command is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

/** Ports of the application: interfaces that adapters implement and `bin` connects. */
export { type FileStore, NotStored, type StoredFile, type Unsettled, type Writing } from './blob-store.js';
export type { Cache } from './cache.js';
export type { Clock, ConfirmedClock } from './clock.js';
export type { Cluster, ClusterMessage, Members, MessageHandler } from './cluster.js';
export type { CommandContext, Quota } from './command-context.js';
export type { Checkpoints, Lease, Leases } from './coordination.js';
export {
  CorruptEventError,
  isTransient,
  StoreFullError,
  UnavailableError,
  UndecryptableError,
  UnfinishedMigrationError,
} from './errors.js';
export type {
  AppendOutcome,
  Batch,
  EventLog,
  EventMetadata,
  NewEvent,
  Position,
  ReadOptions,
  RecordedEvent,
  RevealedEvent,
  Selection,
  Subscribe,
} from './event-log.js';
export type {
  Claims,
  Hashed,
  Mail,
  Mailer,
  OAuthClient,
  OAuthProvider,
  PasswordHashing,
  Profile,
  SignedTokens,
} from './identity.js';
export type { Logger } from './logger.js';
export type { ProjectionProgress, RowQuery, Rows } from './read-model.js';
export type { UserAgent, UserAgentParser } from './user-agents.js';
export type { DecryptEvent, Derivation, Digester, Vault } from './vault.js';
export type { WebhookOutcome, WebhookRequest, Webhooks } from './webhooks.js';

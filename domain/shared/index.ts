/** Building blocks of all services: decider, catalog, schemas, persistent map, media types, texts. */
export {
  type ActiveBuild,
  activeProjection,
  type ProjectionSwitched,
  type ServedState,
  servedEvents,
  servedStream,
} from './active-projection.js';
export {
  type Catalog,
  type Decider,
  type DomainEvent,
  type Erasing,
  type EventData,
  type EventHandlers,
  type EventOf,
  type EventSpec,
  type Evolve,
  event,
  evolveOf,
  handlerFor,
  isRejection,
  type JsonSchema,
  notBefore,
  ownEntry,
  type Rejection,
  type RejectionKind,
  rejection,
  type Sealed,
  serviceOf,
} from './decider.js';
export { HEAD_BYTES, type MediaType, mediaTypes } from './media-types.js';
export {
  addressStream,
  badLinkOf,
  type LinkCommand,
  type LinkEvent,
  type LinksState,
  linkEvents,
  oneTimeLinks,
  usableLink,
} from './one-time-links.js';
export { PersistentMap } from './persistent-map.js';
export { requestEvents, requestRecord } from './request-record.js';
export {
  count,
  type DataOf,
  flag,
  id,
  none,
  object,
  oneOf,
  type Properties,
  type Schema,
  text,
  time,
} from './schema.js';
export {
  activeSessions,
  findSession,
  SESSION_EVENTS,
  type Session,
  type SessionCommand,
  type SessionEvent,
  type SessionsState,
  sessionEnd,
  sessionEndedOf,
  sessionFields,
  sessionStreamOf,
  sessions,
} from './sessions.js';
export {
  clean,
  extensionOf,
  isEmail,
  isVisible,
  readUrl,
  sameText,
  tidy,
  tidyEmail,
  tidyFileName,
  truncate,
} from './text.js';

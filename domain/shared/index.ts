/** Building blocks of all services: decider, catalog, schemas, persistent map. */
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
export {
  addressStream,
  badLinkOf,
  LINK_WINDOW_MS,
  type LinkCommand,
  type LinkEvent,
  type LinksState,
  linkEvents,
  oneTimeLinks,
  usableLink,
} from './one-time-links.js';
export { PersistentMap } from './persistent-map.js';
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
export { clean, isEmail, isVisible, readUrl, sameText, tidy, tidyEmail, truncate } from './text.js';

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
  type Erasing,
  type EventOf,
  type EventSpec,
  event,
  type JsonSchema,
  type Sealed,
  serviceOf,
} from './catalog.js';
export {
  type Decider,
  type DomainEvent,
  type EventData,
  type EventHandlers,
  type Evolve,
  evolveOf,
  handlerFor,
  isRejection,
  notBefore,
  ownEntry,
  type Rejection,
  type RejectionKind,
} from './decider.js';
export { PersistentMap } from './persistent-map.js';
export { type DataOf, object, oneOf, type Properties, type Schema } from './schema.js';
export { clean, isEmail, isVisible, readUrl, sameText, tidy, tidyEmail, truncate } from './text.js';

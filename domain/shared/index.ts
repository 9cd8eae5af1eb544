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
} from './catalog.js';
export {
  type Decider,
  type DomainEvent,
  type EventData,
  type Evolve,
  evolveOf,
  isRejection,
  type Rejection,
  type RejectionKind,
} from './decider.js';
export { isEmail, tidyEmail } from './email.js';
export { type EventHandlers, handlerFor, ownEntry } from './event-handlers.js';
export { notBefore } from './monotonic-time.js';
export { serviceOf } from './names.js';
export { PersistentMap } from './persistent-map.js';
export { type DataOf, object, oneOf, type Properties, type Schema } from './schema.js';
export { isVisible, sameText, tidy, truncate } from './text.js';
export { readUrl } from './url.js';

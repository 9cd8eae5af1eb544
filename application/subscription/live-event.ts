/** What the live feed tells: events that are opened, but those that are large, which come as they stand in the log. */
import type { Catalog, EventOf, ProjectionSwitched } from '../../domain/shared/index.js';
import type { RecordedEvent, RevealedEvent } from '../ports/index.js';

/** All that is told of a service, and which of it is sealed still; without a catalog it may be either. */
export type LiveEvent<C extends Catalog = Catalog> =
  | { [Type in keyof C['events'] & string]: OfSpec<C['events'][Type], EventOf<C, Type>> }[keyof C['events'] & string]
  | RevealedEvent<ProjectionSwitched>;

type OfSpec<Spec, E extends EventOf<Catalog>> = Catalog['events'][string] extends Spec
  ? RecordedEvent<E> | RevealedEvent<E>
  : Spec extends { readonly sealed: { readonly large: true } }
    ? RecordedEvent<E>
    : RevealedEvent<E>;

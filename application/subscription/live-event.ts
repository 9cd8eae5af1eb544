/** Events of the live feed: decrypted, except for large ones, which stay encrypted. */
import type { Catalog, EventOf, ProjectionSwitched } from '../../domain/shared/index.js';
import type { RecordedEvent, RevealedEvent } from '../ports/index.js';

/** Live events of a catalog; without a catalog each may be encrypted or decrypted. */
export type LiveEvent<C extends Catalog = Catalog> =
  | { [Type in keyof C['events'] & string]: LiveEventOf<C['events'][Type], EventOf<C, Type>> }[keyof C['events'] &
      string]
  | RevealedEvent<ProjectionSwitched>;

type LiveEventOf<Spec, E extends EventOf<Catalog>> = Catalog['events'][string] extends Spec
  ? RecordedEvent<E> | RevealedEvent<E>
  : Spec extends { readonly sealed: { readonly large: true } }
    ? RecordedEvent<E>
    : RevealedEvent<E>;

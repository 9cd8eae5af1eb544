/** Opens the secret of a recorded event, or puts the catalog's fallback in its place once the key is gone. */
import type { Catalog } from '../domain/shared/catalog.js';
import type { DomainEvent } from '../domain/shared/decider.js';
import type { RecordedEvent, Reveal, RevealedEvent, Vault } from './ports.js';

export function createReveal(vault: Vault): Reveal {
  return async <E extends DomainEvent>(catalog: Catalog, event: RecordedEvent) => {
    const sealing = catalog.events[event.type]?.sealed;
    if (!sealing || typeof event.data.secret !== 'string') return revealed<E>(event, event.data, false);
    const secret = await vault.open(sealing.subject(event.data as never), event.data.secret);
    return revealed<E>(event, { ...event.data, secret: secret ?? sealing.erased }, secret === undefined);
  };
}

/** The one place where a decoded event is taken for the domain's: the codec has matched it to the catalog. */
const revealed = <E extends DomainEvent>(event: RecordedEvent, data: object, erased: boolean) =>
  ({ ...event, data, erased }) as RevealedEvent<E>;

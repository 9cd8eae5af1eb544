/** Opens the secret of a recorded event, or puts the catalog's fallback in its place once nobody can open it. */
import type { Catalog, DomainEvent } from '../../domain/shared/index.js';
import {
  type DecryptEvent,
  type Logger,
  type RecordedEvent,
  type RevealedEvent,
  UnavailableError,
  UndecryptableError,
} from '../ports/index.js';
import type { CachingVault } from './vault.js';

/** Is told of everything that can never be opened, and where it is known of the event that holds it. */
export type OnUndecryptable = (error: UndecryptableError, event?: RecordedEvent) => void;

/**
 * A vault that takes what can never be opened for erased, once it has told so: one damaged event must not keep a
 * node from starting, nor a reader from the rest. What can get better (the key store is away) still rejects.
 */
export function treatAsErased(vault: CachingVault, told: OnUndecryptable): CachingVault {
  const erased = (error: unknown) => unopenable(error, told);
  // Whoever is to store something is not told that it is gone: another key will do, of the next day perhaps.
  const made = (making: Promise<void>, subject: string) =>
    making.catch((cause) => {
      unopenable(cause, told);
      throw new UnavailableError(`the key of ${subject} is damaged: nothing can be stored under it`, {
        cause,
      });
    });
  return {
    ...vault,
    create: (subject) => made(vault.create(subject), subject),
    renew: (subject) => made(vault.renew(subject), subject),
    open: (subject, sealed, once) => vault.open(subject, sealed, once).catch(erased),
    openLive: (subject, sealed, once) => vault.openLive(subject, sealed, once).catch(erased),
    openMany: (subject, sealed) =>
      vault.openMany(subject, sealed).catch((error) => {
        if (!(error instanceof UndecryptableError)) throw error;
        return Promise.all(sealed.map((each) => vault.open(subject, each).catch(erased)));
      }),
    openBytes: (subject, sealed) => vault.openBytes(subject, sealed).catch(erased),
    // What it would seal now nobody could ever open either: as under a destroyed key, nothing is taken.
    seal: (subject, secret, once) => vault.seal(subject, secret, once).catch(erased),
    sealBytes: (subject, bytes) => vault.sealBytes(subject, bytes).catch(erased),
    digester: (subject, purpose) => vault.digester(subject, purpose).catch(erased),
  };
}

export interface RevealOptions {
  /** For who goes through the log but once, so that nothing of it need be remembered. */
  readonly once?: boolean;
  /** For the live feed, which an election among the key servers must not hold up. */
  readonly live?: boolean;
}

/** Give it a vault that tells what can't be opened: here it is known of which event that was. */
export function createEventDecryptor(
  vault: CachingVault,
  told: OnUndecryptable,
  { once = false, live = false }: RevealOptions = {},
): DecryptEvent {
  const open = live ? vault.openLive : vault.open;
  return async <E extends DomainEvent>(catalog: Catalog, event: RecordedEvent) => {
    const sealing = catalog.events[event.type]?.sealed;
    if (!sealing || typeof event.data.secret !== 'string') return revealed<E>(event, event.data, false);
    const subject = sealing.subject(event.data);
    const secret = await open(subject, event.data.secret, once || sealing.once).catch((error) =>
      unopenable(error, told, event),
    );
    return revealed<E>(event, { ...event.data, secret: secret ?? sealing.erased }, secret === undefined);
  };
}

/** An event as its readers get it once nobody can open it, for those who never look at its secret. */
export const asErasedEvent = <E extends DomainEvent>(catalog: Catalog, event: RecordedEvent): RevealedEvent<E> =>
  revealed(event, { ...event.data, secret: catalog.events[event.type]?.sealed?.erased }, true);

function unopenable(error: unknown, told: OnUndecryptable, event?: RecordedEvent): undefined {
  if (!(error instanceof UndecryptableError)) throw error;
  told(error, event);
}

/** The one place where a decoded event is taken for the domain's: the codec has matched it to the catalog. */
const revealed = <E extends DomainEvent>(event: RecordedEvent, data: object, erased: boolean) =>
  ({ ...event, data, erased }) as RevealedEvent<E>;

const REMEMBERED = 10_000;

/** Keeps count of what could not be opened: each thing once, however often it is met, and a log line a subject. */
export function countUndecryptable(logger: Logger, counted: () => void) {
  const met = new Set<string>();
  const subjects = new Set<string>();
  let count = 0;
  const told: OnUndecryptable = (error, event) => {
    const { subject, sealed } = error;
    const thing = `${subject} ${sealed}`;
    if (met.has(thing) || met.size >= REMEMBERED) return;
    met.add(thing);
    count++;
    counted();
    if (subjects.has(subject)) return;
    subjects.add(subject);
    const where = event && { event: event.id, stream: event.stream, position: String(event.position) };
    logger.error({ err: error, subject, ...where }, "can't be opened, now or later: shown as erased");
  };
  return { told, count: () => count };
}

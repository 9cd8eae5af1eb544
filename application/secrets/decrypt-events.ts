/** Decrypts events; replaces secrets that can never be decrypted with the fallback from the catalog. */
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

/** Called for every secret that can never be decrypted, with its event if known. */
export type OnUndecryptable = (error: UndecryptableError, event?: RecordedEvent) => void;

/**
 * Wraps a vault to treat undecryptable secrets as erased, after reporting them: one damaged event must not prevent a
 * node from starting or a reader from reading the rest. Temporary failures (key store unavailable) still reject.
 */
export function treatAsErased(vault: CachingVault, onUndecryptable: OnUndecryptable): CachingVault {
  const asErased = (error: unknown) => reportUndecryptable(error, onUndecryptable);
  // Not reported to writers as erased: they may succeed with another key, for example of the next day.
  const withUsableKey = (creation: Promise<void>, subject: string) =>
    creation.catch((cause) => {
      reportUndecryptable(cause, onUndecryptable);
      throw new UnavailableError(`key of ${subject} is damaged; nothing can be encrypted with it`, {
        cause,
      });
    });
  return {
    ...vault,
    create: (subject) => withUsableKey(vault.create(subject), subject),
    renew: (subject) => withUsableKey(vault.renew(subject), subject),
    open: (subject, sealed, once) => vault.open(subject, sealed, once).catch(asErased),
    openLive: (subject, sealed, once) => vault.openLive(subject, sealed, once).catch(asErased),
    openMany: (subject, sealed) =>
      vault.openMany(subject, sealed).catch((error) => {
        if (!(error instanceof UndecryptableError)) throw error;
        return Promise.all(sealed.map((each) => vault.open(subject, each).catch(asErased)));
      }),
    openBytes: (subject, sealed) => vault.openBytes(subject, sealed).catch(asErased),
    // Data encrypted now could never be decrypted: refuse it, as with a destroyed key.
    seal: (subject, secret, once) => vault.seal(subject, secret, once).catch(asErased),
    sealBytes: (subject, bytes) => vault.sealBytes(subject, bytes).catch(asErased),
    digester: (subject, purpose) => vault.digester(subject, purpose).catch(asErased),
  };
}

export interface DecryptOptions {
  /** Skips the plaintext cache: for readers that pass through the log only once. */
  readonly once?: boolean;
  /** For the live feed: reads keys from any replica, so that an election of the key servers causes no delay. */
  readonly live?: boolean;
}

/** Creates an event decryptor that reports undecryptable secrets with their event. */
export function createEventDecryptor(
  vault: CachingVault,
  onUndecryptable: OnUndecryptable,
  { once = false, live = false }: DecryptOptions = {},
): DecryptEvent {
  const open = live ? vault.openLive : vault.open;
  return async <E extends DomainEvent>(catalog: Catalog, event: RecordedEvent) => {
    const encryption = catalog.events[event.type]?.sealed;
    if (!encryption || typeof event.data.secret !== 'string') return revealed<E>(event, event.data, false);
    const subject = encryption.subject(event.data);
    const secret = await open(subject, event.data.secret, once || encryption.once).catch((error) =>
      reportUndecryptable(error, onUndecryptable, event),
    );
    return revealed<E>(event, { ...event.data, secret: secret ?? encryption.erased }, secret === undefined);
  };
}

/** Returns an event as if its secret were erased, for readers that do not need it. */
export const asErasedEvent = <E extends DomainEvent>(catalog: Catalog, event: RecordedEvent): RevealedEvent<E> =>
  revealed(event, { ...event.data, secret: catalog.events[event.type]?.sealed?.erased }, true);

function reportUndecryptable(error: unknown, onUndecryptable: OnUndecryptable, event?: RecordedEvent): undefined {
  if (!(error instanceof UndecryptableError)) throw error;
  onUndecryptable(error, event);
}

/** Casts a decrypted event to the domain's type; safe because the codec has matched it to the catalog. */
const revealed = <E extends DomainEvent>(event: RecordedEvent, data: object, erased: boolean) =>
  ({ ...event, data, erased }) as RevealedEvent<E>;

/** Distinct secrets that are counted. */
const MAX_COUNTED = 10_000;

/** Counts undecryptable secrets, each once, and logs one line per subject. */
export function createUndecryptableCounter(logger: Logger, counted: () => void) {
  const secrets = new Set<string>();
  const subjects = new Set<string>();
  let count = 0;
  const onUndecryptable: OnUndecryptable = (error, event) => {
    const { subject, sealed } = error;
    const secret = `${subject} ${sealed}`;
    if (secrets.has(secret) || secrets.size >= MAX_COUNTED) return;
    secrets.add(secret);
    count++;
    counted();
    if (subjects.has(subject)) return;
    subjects.add(subject);
    const where = event && { event: event.id, stream: event.stream, position: String(event.position) };
    logger.error({ err: error, subject, ...where }, 'secret cannot be decrypted; treating it as erased');
  };
  return { onUndecryptable, count: () => count };
}

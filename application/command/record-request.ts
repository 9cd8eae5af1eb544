/** Records the idempotency keys of requests whose streams do not follow from the key. */
import {
  type Catalog,
  isRejection,
  type Rejection,
  type requestEvents,
  requestRecord,
} from '../../domain/shared/index.js';
import type { CommandContext, EventLog } from '../ports/index.js';
import type { KernelPorts } from './kernel-ports.js';

export interface RequestRecordPorts extends Pick<KernelPorts, 'handle' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'retain'>;
}

/** Seconds a key is remembered. */
const REQUEST_SECONDS = 86_400;

/** Returns a function that rejects a key which was used with another request; call it before the command. */
export function createRequestRecord(
  catalog: Catalog & { readonly events: typeof requestEvents },
  { handle, log, derivation, clock }: RequestRecordPorts,
) {
  const kind = { decider: requestRecord, catalog, creates: () => true, maxAge: true } as const;
  const purpose = `${catalog.service}.request`;

  return async ({ quota: _, ...context }: CommandContext): Promise<Rejection | undefined> => {
    if (context.fingerprint === undefined) return undefined;
    const stream = `${purpose}-${derivation.id(purpose, context.commandId)}`;
    const setRetention = () => log.retain(stream, { maxAgeSeconds: REQUEST_SECONDS });
    const command = { type: 'RecordRequest' as const, now: clock.now() };
    const outcome = await handle(kind, stream, command, context, setRetention);
    return isRejection(outcome) ? outcome : undefined;
  };
}

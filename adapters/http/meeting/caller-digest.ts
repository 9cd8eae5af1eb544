/** Derives a pseudonymous digest of a client's network, so that no address is stored. */
import type { Derivation } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';

/** Returns a keyed digest of the network of an address; the same on all nodes. */
export type CallerOf = (address: string) => string;

export const createCallerOf =
  (derivation: Derivation): CallerOf =>
  (address) =>
    derivation.id('meeting.caller', networkOf(address));

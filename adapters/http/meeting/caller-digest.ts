/** Derives a pseudonymous digest of a client's network, so that no address is stored. */
import type { Derivation } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';

/** Returns a keyed digest of the network of an address; the same on all nodes. */
export type CallerDigest = (address: string) => string;

export const createCallerDigest =
  (derivation: Derivation): CallerDigest =>
  (address) =>
    derivation.id('meeting.caller', networkOf(address));

/** What is kept of where somebody comes from: enough to know them again, and nobody else can tell an address from it. */
import type { Derivation } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';

/** A keyed digest of the network of an address, the same on all nodes. */
export type CallerOf = (address: string) => string;

export const createCallerOf =
  (derivation: Derivation): CallerOf =>
  (address) =>
    derivation.id('meeting.caller', networkOf(address));

/** Ends the keys of links whose time is over: with each goes who had asked for one, and never became a user. */
import { linksSubjectOf } from '../../domain/chat/events/address.js';
import type { CertainClock, Vault } from '../ports.js';

export interface LinkKeyPorts {
  readonly vault: Pick<Vault, 'destroy'>;
  readonly clock: CertainClock;
}

const DAY_MS = 86_400_000;
export const LINK_KEYS_EVERY_MS = 3_600_000;
/** Days that are looked back on: for so long no node may have run. */
const DAYS = 30;

export function createEndLinkKeys({ vault, clock }: LinkKeyPorts) {
  /** Of these days it was done already by this process. */
  let done = Number.NEGATIVE_INFINITY;
  return async (stop: AbortSignal): Promise<void> => {
    const now = await clock.certain();
    if (now === undefined) return;
    const yesterday = Math.floor(now / DAY_MS) - 1;
    for (let day = Math.max(done + 1, yesterday - DAYS); day <= yesterday && !stop.aborted; day++) {
      await vault.destroy(linksSubjectOf(day));
      done = day;
    }
  };
}

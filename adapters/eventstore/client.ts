/** The connection to the event store: the driver's client, for the address that was configured. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { FastClient } from './fast-client/client.js';

/** Case is the driver's: it knows a key however it is written. */
const PREFERENCE = /(?<=[?&]nodePreference=)[^&]*/gi;

/**
 * An address that leads to the leader, whatever it says: followers and replicas do not know yet what was
 * acknowledged, and would answer that there is no such stream.
 */
export const toLeader = (url: string): string => url.replace(PREFERENCE, 'leader');

export const connectEventStore = (url: string): EventStoreDBClient => FastClient.open(toLeader(url));

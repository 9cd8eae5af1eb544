/** Connects to the event store at the configured address. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { FastClient } from './fast-client/client.js';

/** Case-insensitive, as in the driver. */
const PREFERENCE = /(?<=[?&]nodePreference=)[^&]*/gi;

/**
 * Directs a connection string to the leader. Followers and replicas lag behind acknowledged writes and would
 * report that a stream does not exist.
 */
export const preferLeader = (url: string): string => url.replace(PREFERENCE, 'leader');

export const connectEventStore = (url: string): EventStoreDBClient => FastClient.open(preferLeader(url));

/** A hit of the past, as whoever kept it elsewhere writes it down. */
import { type DataOf, object } from '../shared/index.js';
import { payload } from './hit-payload.js';

const text = { type: 'string' } as const;
const { site, ...rest } = payload.properties;

/** What a tracker sends, with what the service otherwise sees for itself. */
export const pastHit = object(
  /** ISO 8601, or Unix time. */
  { site, timestamp: { type: ['string', 'number'] } },
  {
    ...rest,
    userAgent: text,
    /** Tells visitors of a day apart, with `userAgent`; digested, and then forgotten. */
    address: text,
    /** Tells them apart in the place of both. */
    visitor: text,
    /** Two letters. */
    country: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  },
);
export type WrittenPastHit = DataOf<typeof pastHit>;

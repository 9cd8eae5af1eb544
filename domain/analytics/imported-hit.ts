/** Schema of a line in an import file. */
import { type DataOf, object } from '../shared/index.js';
import { payload } from './hit-payload.js';

const text = { type: 'string' } as const;
const { site, ...rest } = payload.properties;

/** A collect payload plus the fields that the service normally takes from the request. */
export const importedHit = object(
  /** ISO 8601 or Unix time. */
  { site, timestamp: { type: ['string', 'number'] } },
  {
    ...rest,
    userAgent: text,
    /** Identifies a visitor together with `userAgent`; hashed and never stored. */
    address: text,
    /** Identifies a visitor instead of `address` and `userAgent`. */
    visitor: text,
    /** Two letters. */
    country: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  },
);
export type ImportedHit = DataOf<typeof importedHit>;

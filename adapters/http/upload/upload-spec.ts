/** Declares large base64 members of JSON bodies, and how a route receives them. */
import type { IncomingBlob, Receiving } from '../../../application/files/encrypted-blobs.js';

/** Large base64 members of a JSON body: empty strings in `Request.body`, their content is in `Request.received`. */
export interface Uploads {
  /** Maximum decoded bytes by name. Longer content and invalid base64 are answered 400. */
  readonly members: { readonly [name: string]: number };
  /** Opens the storage for one member. */
  receive(): Promise<Receiving>;
}

/** Received content by member name. */
export type ReceivedBlobs = ReadonlyMap<string, IncomingBlob>;
